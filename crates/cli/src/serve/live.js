// Puts what the server has drawn anew in the place of what stands there. All of it works
// without this script, by reloading the page.
"use strict";
{
  const shown = document.getElementById("live");
  const state = document.getElementById("live-state");
  const events = new EventSource(shown.dataset.events);
  let lost = 0;
  const say = (text) => {
    if (state.textContent !== text) state.textContent = text;
  };
  events.addEventListener("message", (event) => {
    // Who is at a link is at the same one afterwards.
    const active = document.activeElement;
    const at = shown.contains(active) ? active.getAttribute("href") : null;
    shown.innerHTML = event.data;
    const links = at === null ? [] : [...shown.querySelectorAll("a")];
    links.find((link) => link.getAttribute("href") === at)?.focus({ preventScroll: true });
  });
  events.addEventListener("open", () => {
    clearTimeout(lost);
    say("Connected: what is new is shown by itself.");
  });
  // The server ends a connection now and then, and the browser makes another by itself.
  events.addEventListener("error", () => {
    clearTimeout(lost);
    lost = setTimeout(() => say("Not connected: diskfacts serve may have ended. What is shown is as it was then."), 5000);
  });
  events.addEventListener("end", () => {
    events.close();
    say("The runs cannot be read at this moment: reload the page.");
  });
}
