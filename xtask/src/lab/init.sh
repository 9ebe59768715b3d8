#!/busybox/busybox sh
# The first program of a guest: it mounts what programs expect, lets the lab's
# own program do the scenarios over the second serial line, and switches off.
/busybox/busybox --install -s /busybox
export PATH=/usr/sbin:/usr/bin:/busybox HOME=/root TERM=dumb DM_DISABLE_UDEV=1 MDADM_NO_UDEV=1
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm /run/lock /run/lvm /run/mdadm /root
mount -t tmpfs run /run
mkdir -p /run/lock /run/lvm /run/mdadm
mount -t tmpfs tmp /tmp
mount -t tracefs trace /sys/kernel/tracing 2>/dev/null
ip link set lo up
address=$(sed -n 's/.*lab.address=\([0-9.]*\).*/\1/p' /proc/cmdline)
if [ -n "$address" ]; then
    # Guests on one network: of one name they would be one client to a file server.
    hostname "lab${address##*.}"
    modprobe -q virtio_pci
    modprobe -q virtio_net
    ip addr add "$address/24" dev eth0
    ip link set eth0 up
fi
echo 1 >/proc/sys/kernel/printk
for module in virtio_pci virtio_blk virtio_scsi nvme ahci sd_mod xhci_pci usb_storage uas \
    sdhci_pci mmc_block 9pnet_virtio 9p loop; do
    modprobe -q "$module"
done
mount -t 9p -o trans=virtio,version=9p2000.L,msize=131072 lab /share
if grep -q lab.shell /proc/cmdline; then
    echo "the lab's tools are in /usr/sbin, diskfacts and diskfacts-lab in /usr/bin"
    setsid cttyhack sh
elif grep -q lab.helper /proc/cmdline; then
    RUST_BACKTRACE=1 diskfacts-lab helper
else
    stty -F /dev/ttyS1 raw -echo
    RUST_BACKTRACE=1 diskfacts-lab guest </dev/ttyS1 >/dev/ttyS1
fi
sync
poweroff -f
