'use strict';

// Files that a test makes, and that are gone when its process is.

const fs = require('node:fs');
const os = require('node:os');
const { join } = require('node:path');
const { O_DIRECT } = require('..');
const { Missing } = require('./programs.js');

/** What is to be undone, the last first. */
const undo = [];

process.on('exit', () => {
  for (const step of undo.reverse()) {
    try {
      step();
    } catch (error) {
      console.error(`after the tests: ${error.message}`);
      process.exitCode = 1;
    }
  }
});

/** Calls this when the process ends, before what was to be undone earlier. */
function atExit(step) {
  undo.push(step);
}

/** A folder of its own, in the folder for temporary files. */
function scratchFolder() {
  const folder = fs.mkdtempSync(join(os.tmpdir(), 'direct-io-'));
  atExit(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A file with this content in a folder of its own. */
function scratchFile(content = '') {
  const file = join(scratchFolder(), 'file');
  fs.writeFileSync(file, content);
  return file;
}

/** A folder of its own, on a filesystem that grants direct I/O. */
function directFolder() {
  const folder = scratchFolder();
  const probe = join(folder, 'probe');
  fs.writeFileSync(probe, '');
  try {
    fs.closeSync(fs.openSync(probe, fs.constants.O_RDONLY | O_DIRECT));
  } catch (error) {
    if (error.code !== 'EINVAL') throw error;
    throw new Missing(`direct I/O in ${os.tmpdir()}: set TMPDIR to a folder on a disk`);
  }
  fs.rmSync(probe);
  return folder;
}

/** A file with this content, on a filesystem that grants direct I/O. */
function directFile(content = '') {
  const file = join(directFolder(), 'file');
  fs.writeFileSync(file, content);
  return file;
}

module.exports = { atExit, directFile, directFolder, scratchFile, scratchFolder };
