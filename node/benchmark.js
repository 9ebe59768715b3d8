#!/usr/bin/env node
'use strict';

// The write benchmark: node benchmark.js --help

const { USAGE, parse } = require('./benchmark/command-line.js');
const { Refusal } = require('./benchmark/refusal.js');
const { run } = require('./benchmark/run.js');
const { wrapped } = require('./benchmark/words.js');

/** @param {string} text */
const note = (text) => process.stderr.write(`${wrapped(`benchmark: ${text}`)}\n`);

async function main() {
  const wanted = parse(process.argv.slice(2));
  if (wanted.help) {
    process.stdout.write(USAGE);
    return;
  }
  let stop = '';
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => (stop = signal));
  // A reader that has seen enough, as head has.
  let unread = false;
  process.stdout.on('error', (error) => {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EPIPE') throw error;
    unread = true;
  });
  const ended = await run(
    wanted,
    (line) => process.stdout.write(`${line}\n`),
    note,
    () => stop !== '' || unread,
  );
  if (!ended && !unread) {
    note(`stopped by ${stop}: what is printed is complete, the rest was not measured`);
    process.exitCode = stop === 'SIGINT' ? 130 : 143;
  }
}

main().catch((error) => {
  note(error.message);
  process.exitCode = error instanceof Refusal ? 2 : 1;
});
