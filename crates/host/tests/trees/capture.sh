#!/bin/sh
# Writes what diskfacts reads of this machine's /proc, /sys and /etc to
# standard output, in the format of README.md.
set -eu

file() {
    # Attributes may be absent or unreadable: then they are left out, as the
    # reader would find them.
    if content=$(cat "$1" 2>/dev/null); then
        echo "> ${1#/}"
        printf '%s\n' "$content" | sed 's/^/|/'
    fi
}

link() {
    echo "@ ${1#/} -> $(readlink "$1")"
}

folder_of_links() {
    if [ -d "$1" ]; then
        echo "/ ${1#/}"
        for entry in "$1"/*; do
            if [ -L "$entry" ]; then link "$entry"; fi
        done
    fi
}

echo "# Captured."
for path in /etc/os-release /proc/cpuinfo /proc/meminfo /proc/swaps /proc/stat \
    /proc/diskstats /proc/self/mountinfo /proc/self/status /proc/self/cgroup \
    /proc/self/io /proc/vmstat /proc/fs/jbd2/*/info /proc/spl/kstat/zfs/*/state /sys/fs/xfs/*/stats/stats \
    /sys/fs/cgroup/cgroup.controllers /proc/pressure/io /proc/pressure/memory /proc/pressure/cpu \
    /proc/sys/kernel/arch /proc/sys/kernel/ostype /proc/sys/kernel/osrelease \
    /proc/sys/kernel/hostname /sys/hypervisor/type \
    /sys/class/dmi/id/sys_vendor /sys/class/dmi/id/product_name \
    /sys/devices/system/clocksource/clocksource0/available_clocksource \
    /sys/devices/system/clocksource/clocksource0/current_clocksource; do
    file "$path"
done

for filesystem in /sys/fs/*; do
    for entry in "$filesystem"/*; do
        if [ -d "$entry" ]; then echo "/ ${entry#/}"; fi
        folder_of_links "$entry/devices"
        file "$entry/exclusive_operation"
        for path in "$entry"/devinfo/*/missing "$entry"/allocation/data/*/total_bytes; do
            file "$path"
        done
    done
done

folder_of_links /sys/dev/block
folder_of_links /sys/class/block
for name in /sys/class/block/*; do
    folder=$(readlink -f "$name")
    for attribute in dev size ro start partition stat serial backing_dev alignment_offset \
        queue/logical_block_size queue/physical_block_size queue/rotational \
        queue/write_cache queue/fua queue/scheduler queue/read_ahead_kb \
        queue/max_sectors_kb queue/nr_requests queue/iostats queue/optimal_io_size \
        queue/iosched/slice_idle queue/iosched/slice_idle_us device/queue_depth \
        device/model device/vendor device/serial device/wwid wwid device/name \
        device/state device/transport bcache/cache_mode bcache/state \
        loop/backing_file loop/dio dm/name dm/uuid dm/suspended queue/minimum_io_size \
        md/level md/raid_disks md/degraded md/array_state md/sync_action md/sync_completed \
        md/sync_speed md/chunk_size md/layout md/consistency_policy md/rmw_level; do
        file "$folder/$attribute"
    done
    for path in "$folder"/md/dev-*/state "$folder"/device/nvme*/transport; do file "$path"; done
    for page in vpd_pg80 vpd_pgb1; do
        if bytes=$(od -An -v -tx1 "$folder/device/$page" 2>/dev/null); then
            echo "* ${folder#/}/device/$page"
            echo "$bytes"
        fi
    done
    for tags in "$folder"/mq/*/nr_tags; do file "$tags"; done
    folder_of_links "$folder/slaves"
    folder_of_links "$folder/holders"
done
