//! The full screen of `diskfacts watch --live`.

use crate::exit::Failure;
use crate::screen::{Scene, Screen};
use crate::signals::Signals;
use diskfacts_record::evidence::{BlockLayer, Bucket, DeviceRequests};
use diskfacts_report::text::Look;
use diskfacts_report::text::live::{Course, Moment, RequestsView, View};
use jiff::Zoned;
use std::sync::{Arc, Mutex, PoisonError};

/// A screen of requests.
pub(super) struct RequestsShown {
    scene: Arc<Mutex<RequestsScene>>,
    _screen: Screen,
}

impl RequestsShown {
    pub(super) fn open(devices: &[String], signals: &Signals, look: Look) -> Result<Self, Failure> {
        let scene = RequestsScene(RequestsView {
            what: devices.join(", "),
            ..RequestsView::default()
        });
        let scene = Arc::new(Mutex::new(scene));
        let screen = Screen::open(Arc::clone(&scene), signals, look)?;
        Ok(Self {
            scene,
            _screen: screen,
        })
    }

    /// Another part has ended.
    pub(super) fn part(&self, layer: BlockLayer) {
        let mut scene = self.scene.lock().unwrap_or_else(PoisonError::into_inner);
        scene.part(layer);
    }
}

struct RequestsScene(RequestsView);

impl RequestsScene {
    fn part(&mut self, layer: BlockLayer) {
        for device in &layer.devices {
            let moment = moment(device, layer.window_ns);
            let courses = &mut self.0.courses;
            match courses.iter_mut().find(|(name, _)| *name == device.name) {
                Some((_, course)) => course.push(moment),
                // From when it first did something: a column for each interval since then.
                None if device.operations.is_empty() => {}
                None => {
                    let mut course = Course::default();
                    course.push(moment);
                    courses.push((device.name.clone(), course));
                }
            }
        }
        self.0.part = Some(layer);
    }
}

/// What a device did in a part: all requests that it completed.
fn moment(device: &DeviceRequests, window_ns: u64) -> Moment {
    let issued: u64 = device.operations.iter().map(|of| of.issued).sum();
    let each = device.operations.iter().map(|of| &of.device_histogram);
    let latencies: Vec<Bucket> = each.flatten().copied().collect();
    Moment {
        of: device.name.as_str().into(),
        begins: false,
        per_s: (window_ns > 0).then(|| issued as f64 / (window_ns as f64 / 1e9)),
        latencies,
    }
}

impl Scene for RequestsScene {
    fn look(&mut self) {
        self.0.at = Zoned::now().strftime("%H:%M:%S").to_string();
    }

    fn view(&self) -> &dyn View {
        &self.0
    }
}
