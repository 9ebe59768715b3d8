'use strict';

// Block devices over files of the test's own, and filesystems on them. All are
// taken down when the test's process ends. Never a real disk.

const fs = require('node:fs');
const { join } = require('node:path');
const { Missing, needRoot, tool } = require('./programs.js');
const { atExit, scratchFolder } = require('./scratch.js');

/** A loop device of `size` bytes of zeros. */
function loopDevice(size, options = []) {
  needRoot();
  const backing = join(scratchFolder(), 'backing');
  fs.writeFileSync(backing, '');
  fs.truncateSync(backing, size);
  let device;
  try {
    device = tool('losetup', 'mount', ['--find', '--show', ...options, backing]).trim();
  } catch (error) {
    if (error instanceof Missing) throw error;
    throw new Missing(`loop devices in the kernel: ${error.message.trim().split('\n').at(-1)}`);
  }
  atExit(() => detach(device, backing));
  return device;
}

/**
 * Detaches, and waits until it is so: with another opener, such as udev's look at
 * a new device, the kernel detaches when the last one closes.
 */
function detach(device, backing) {
  const shown = `/sys/block/${device.slice('/dev/'.length)}/loop/backing_file`;
  const attached = () => fs.existsSync(shown) && fs.readFileSync(shown, 'utf8').startsWith(backing);
  tool('losetup', 'mount', ['--detach', device]);
  for (let tries = 0; attached(); tries += 1) {
    if (tries === 400) throw new Error(`${device} is still attached: losetup -d ${device}`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  }
}

/** Mounts, and unmounts in the end; the folder. */
function mounted(args) {
  needRoot();
  const folder = scratchFolder();
  try {
    tool('mount', 'mount', [...args, folder]);
  } catch (error) {
    if (error instanceof Missing) throw error;
    throw new Missing(`mounting: ${error.message.trim().split('\n').at(-1)}`);
  }
  // Lazily: a test that failed may have left a file open until the process ends.
  atExit(() => tool('umount', 'mount', ['--lazy', folder]));
  return folder;
}

/** A small ext4 on a loop device: the device, and where it is mounted. */
function ext4(size) {
  const device = loopDevice(size);
  tool('mkfs.ext4', 'e2fsprogs', ['-q', '-O', '^has_journal', device]);
  return { device, folder: mounted([device]) };
}

module.exports = { ext4, loopDevice, mounted };
