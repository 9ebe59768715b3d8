'use strict';

// Runs the benchmark as a user would.

const { spawn, spawnSync } = require('node:child_process');
const { join } = require('node:path');

const BENCHMARK = join(__dirname, '..', 'benchmark.js');

/** Runs it to its end: its exit code, its results, and what else it said, in one line. */
function benchmark(args, options = {}) {
  const done = spawnSync(process.execPath, [BENCHMARK, ...args], { encoding: 'utf8', ...options });
  if (done.error !== undefined) throw done.error;
  return {
    code: done.status,
    results: done.stdout.split('\n').filter((line) => line !== ''),
    said: done.stderr.replace(/\s+/g, ' ').trim(),
    stderr: done.stderr,
  };
}

/** Starts it, sends a signal after its first result; its exit code or signal, and its results. */
function interrupted(args, signal, options = {}) {
  return new Promise((resolve, reject) => {
    const running = spawn(process.execPath, [BENCHMARK, ...args], options);
    let stdout = '';
    let stderr = '';
    running.on('error', reject);
    running.stderr.on('data', (data) => (stderr += data));
    running.stdout.on('data', (data) => {
      if (stdout === '') running.kill(signal);
      stdout += data;
    });
    running.on('close', (code, by) => {
      resolve({ code: code ?? by, results: stdout.split('\n').slice(0, -1), stderr });
    });
  });
}

/** Parts of a result: `4096 | /dev/sda | FSYNC + O_DIRECT | 0.47 MB/s`. */
function parts(line) {
  const found = /^(\d+) \| (.+) \| ([A-Z_]+(?: \+ [A-Z_]+)?) \| (\d+\.\d\d) MB\/s$/.exec(line);
  if (found === null) throw new Error(`no result: ${line}`);
  const [, blockSize, name, label, rate] = found;
  return { blockSize: Number(blockSize), name, label, rate: Number(rate) };
}

module.exports = { BENCHMARK, benchmark, interrupted, parts };
