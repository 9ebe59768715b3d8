'use strict';

// The write benchmark as a program: what it measures, and what it refuses.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const { basename, dirname, join } = require('node:path');
const test = require('node:test');
const { BLOCK_SIZES, MODES } = require('../benchmark/modes.js');
const { BENCHMARK, benchmark, interrupted, parts } = require('../testing/benchmark.js');
const { ext4, loopDevice, mounted } = require('../testing/devices.js');
const { Missing, needLinux, run, tool, whereItCanRun } = require('../testing/programs.js');
const { directFolder, scratchFile, scratchFolder } = require('../testing/scratch.js');

/** One column of the matrix, in little time. */
const SHORT = ['--block-max=4096', '--time=0.5'];

const LABELS = MODES.map(({ label }) => label);

/** Every mode at every size, in order, each with a rate above 0. */
function assertWholeMatrix({ code, results, said }, name) {
  assert.equal(code, 0, said);
  const found = results.map(parts);
  const expected = BLOCK_SIZES.flatMap((size) => LABELS.map((label) => `${size} ${label}`));
  assert.deepEqual(found.map((one) => `${one.blockSize} ${one.label}`), expected);
  for (const one of found) {
    assert.equal(one.name, name);
    assert.ok(one.rate > 0, JSON.stringify(one));
  }
  assert.match(said, /294 results in at most about \d+ s; MB is 2\^20 bytes here/);
}

test(
  'all 294 results come from a file of its own in the current folder, and nothing is left there',
  whereItCanRun(() => {
    const cwd = directFolder();
    assertWholeMatrix(benchmark(['--time=8'], { cwd }), 'file');
    assert.deepEqual(fs.readdirSync(cwd), []);
  }),
);

test(
  'all 294 results come from a disk, which holds zeros again in the end',
  whereItCanRun(() => {
    const device = loopDevice(40 << 20);
    assertWholeMatrix(benchmark(['--time=8', device, '--destroy-data-on', device]), device);
    assert.ok(fs.readFileSync(device).every((byte) => byte === 0));
  }),
);

test(
  'a folder or a new name gets a file of its own, without a name',
  whereItCanRun(() => {
    const folder = directFolder();
    for (const path of [folder, join(folder, 'new')]) {
      const { code, results, said } = benchmark([path, ...SHORT]);
      assert.equal(code, 0, said);
      assert.deepEqual(results.map((line) => parts(line).name), Array(21).fill(path));
      assert.deepEqual(fs.readdirSync(folder), []);
    }
  }),
);

test(
  'results of few writes are named with their slowest and fastest write, others are not',
  whereItCanRun(() => {
    const folder = directFolder();
    // At most 4 writes of 32 MiB fit into the file.
    const { code, results, stderr } = benchmark([folder, '--block-min=33554432', '--time=1']);
    assert.equal(code, 0, stderr);
    const few = stderr.split('\n').filter((line) => line.startsWith('  33554432 '));
    assert.equal(few.length, results.length);
    for (const [at, line] of few.entries()) {
      const { label } = parts(results[at]);
      assert.ok(line.startsWith(`  33554432 ${label}: `), line);
      assert.match(line, /: \d writes?(, \d+\.\d\d to \d+\.\d\d MB\/s| and one f\w*sync)?$/);
    }
    assert.match(stderr.replace(/\s+/g, ' '), /21 results rest on fewer than 10 writes, and mean little/);
    // 40 KiB of the page cache take less than the share of any time.
    const many = benchmark([folder, ...SHORT]);
    assert.ok(!many.said.includes('4096 BUFFERED:'), many.said);
  }),
);

test('a folder that is not there or may not be written is refused', () => {
  const missing = join(scratchFolder(), 'missing', 'file');
  const { code, said, results } = benchmark([missing, ...SHORT]);
  assert.equal(code, 2);
  assert.match(said, /no file can be made in .*missing: ENOENT.* Name a folder that you may write to/);
  assert.deepEqual(results, []);
});

/** What a run traced by strace did, cell by cell: `{ label, calls }`. */
function traced(folder) {
  const log = scratchFile();
  const calls = 'trace=openat,pwrite64,fdatasync,fsync,write';
  const args = ['-f', '-o', log, '-e', calls, '-e', 'raw=pwrite64', '-s', '200'];
  try {
    tool('strace', 'strace', [...args, process.execPath, BENCHMARK, folder, ...SHORT]);
  } catch (error) {
    if (!/ptrace|PTRACE/.test(error.message)) throw error;
    throw new Missing('the right to trace: run the tests as root, or allow ptrace');
  }
  const flagsOf = new Map();
  const cells = [];
  let current = [];
  for (const line of fs.readFileSync(log, 'utf8').split('\n')) {
    const call = line.replace(/^\d+ +/, '');
    const opened = /^openat\(.*\.direct-io-benchmark-\d+", ([A-Z_|]+).*\) = (\d+)$/.exec(call);
    const result = /^write\(1, "4096 \| .* \| (.+) \| [\d.]+ MB\/s\\n"/.exec(call);
    if (opened) flagsOf.set(Number(opened[2]), opened[1].split('|'));
    else if (result) {
      cells.push({ label: result[1], calls: current });
      current = [];
    } else if (/^(pwrite64|fdatasync|fsync)\(/.test(call)) current.push(call);
  }
  return { flagsOf, cells };
}

test(
  'each mode makes the system calls that it is called after, on the memory that it is called after',
  whereItCanRun(() => {
    needLinux();
    const { flagsOf, cells } = traced(directFolder());
    assert.deepEqual(cells.map(({ label }) => label), LABELS);
    for (const { label, calls } of cells) {
      // Before the first cell the file is filled, and brought down by one fsync.
      const filled = label === LABELS[0] ? calls.findIndex((call) => call.startsWith('fsync')) + 1 : 0;
      const own = calls.slice(filled);
      // Brings down what the cell has left; not timed.
      assert.match(own.pop(), /^fdatasync/);
      const [sync, memory] = label.split(' + ');
      const each = /^(FDATASYNC|FSYNC)$/.test(sync) ? [sync.toLowerCase()] : [];
      const end = /^AMORTIZED_(\w+)$/.exec(sync);
      const names = own.map((call) => call.slice(0, call.indexOf('(')));
      const writes = own.filter((call) => call.startsWith('pwrite64'));
      assert.ok(writes.length > 0, label);
      assert.deepEqual(
        names,
        [...writes.flatMap(() => ['pwrite64', ...each]), ...(end ? [end[1].toLowerCase()] : [])],
        label,
      );
      const direct = label.endsWith('O_DIRECT');
      for (const [at, write] of writes.entries()) {
        const [fd, address, length, offset] = write.match(/0x[0-9a-f]+|\b0\b/g).map(Number);
        assert.equal(length, 4096, label);
        assert.equal(offset, at * 4096, label);
        assert.equal(address % 4096, direct || memory === 'ALIGNED' ? 0 : 1, label);
        const flags = flagsOf.get(fd);
        assert.equal(flags.includes('O_DIRECT'), direct, label);
        for (const flag of ['O_DSYNC', 'O_SYNC']) assert.equal(flags.includes(flag), sync === flag, label);
      }
    }
  }),
);

test('a file that is there is refused, and keeps what it holds', () => {
  const path = scratchFile(Buffer.alloc(8192, 'x'));
  const other = scratchFile(Buffer.alloc(8192, 'y'));
  for (const [args, why] of [
    [[path], /is there, and would be overwritten: all that it holds is lost.*--destroy-data-on .*file/],
    [[path, '--destroy-data-on', other], /--destroy-data-on names .*, but what would be written is/],
    [[path, '--destroy-data-on', dirname(path)], /nothing was written\. Name the same/],
    [[dirname(path), '--destroy-data-on', path], /is a folder: a file of its own is made/],
  ]) {
    const { code, results, said } = benchmark([...args, ...SHORT]);
    assert.equal(code, 2, said);
    assert.match(said, why);
    assert.deepEqual(results, []);
  }
  assert.ok(fs.readFileSync(path).equals(Buffer.alloc(8192, 'x')));
  assert.ok(fs.readFileSync(other).equals(Buffer.alloc(8192, 'y')));
});

test(
  'a file that was named is overwritten, also through a link, and keeps its size',
  whereItCanRun(() => {
    const folder = directFolder();
    const path = join(folder, 'data');
    fs.writeFileSync(path, Buffer.alloc(10_000, 'x'));
    fs.symlinkSync('data', join(folder, 'link'));
    const { code, results, said } = benchmark([join(folder, 'link'), '--destroy-data-on', path, '--time=1']);
    assert.equal(code, 0, said);
    // 4096 and 8192: larger blocks do not fit.
    assert.equal(results.length, 42);
    assert.match(said, /left out: blocks above 9\.8 KiB/);
    const now = fs.readFileSync(path);
    assert.equal(now.length, 10_000);
    assert.ok(!now.includes('xxxx'));
  }),
);

test('a file below the smallest block and what is no file are refused', () => {
  const small = scratchFile('small');
  for (const [path, why] of [
    [small, /has 5 bytes and keeps that size, and the smallest block has 4096/],
    ...(process.platform === 'win32' ? [] : [['/dev/null', /neither a folder nor a file nor a disk|Linux only/]]),
  ]) {
    const { code, said } = benchmark([path, '--destroy-data-on', path]);
    assert.equal(code, 2, said);
    assert.match(said, why);
  }
  assert.equal(fs.readFileSync(small, 'utf8'), 'small');
});

test(
  'a file on which a loop device stands is refused',
  whereItCanRun(() => {
    const device = loopDevice(1 << 20);
    const path = fs.readFileSync(`/sys/block/${basename(device)}/loop/backing_file`, 'utf8').trim();
    const { code, said } = benchmark([path, '--destroy-data-on', path]);
    assert.equal(code, 2, said);
    assert.match(said, new RegExp(`loop device ${device} stands on it \\(losetup --detach ${device}\\)`));
  }),
);

test(
  'a disk that was not named, is mounted, or is claimed is refused, and the reason is told',
  whereItCanRun(() => {
    const { device, folder } = ext4(4 << 20);
    const claimed = loopDevice(1 << 20);
    const fd = fs.openSync(claimed, fs.constants.O_RDONLY | fs.constants.O_EXCL);
    try {
      for (const [args, why] of [
        [[claimed], /is there, and would be overwritten/],
        [[claimed, '--destroy-data-on', claimed], new RegExp(`open in process ${process.pid}`)],
        [[device, '--destroy-data-on', device], new RegExp(`mounted on ${folder} \\(umount ${folder}\\)`)],
        [[device, '--destroy-data-on', claimed], /what would be written is/],
      ]) {
        const { code, results, said } = benchmark([...args, ...SHORT]);
        assert.equal(code, 2, said);
        assert.match(said, why);
        assert.deepEqual(results, []);
      }
    } finally {
      fs.closeSync(fd);
    }
  }),
);

test(
  'a disk that is set read-only is refused',
  whereItCanRun(() => {
    const device = loopDevice(1 << 20, ['--read-only']);
    const { code, said } = benchmark([device, '--destroy-data-on', device]);
    assert.equal(code, 2, said);
    assert.match(said, /cannot be written: .*set read-only/);
  }),
);

test(
  'one byte of data, at the start, at the end of what is written, or at the end, is enough to refuse a disk',
  whereItCanRun(() => {
    const size = 130 << 20;
    const device = loopDevice(size);
    for (const [at, zeros] of [
      [0, 0],
      [(128 << 20) - 1, 0],
      [size - (1 << 20), 1],
      [size - 1, 1],
    ]) {
      const fd = fs.openSync(device, 'r+');
      fs.writeSync(fd, Buffer.from([1]), 0, 1, at);
      fs.fsyncSync(fd);
      fs.closeSync(fd);
      const refused = benchmark([device, '--destroy-data-on', device, ...SHORT]);
      assert.equal(refused.code, 2, refused.said);
      assert.match(refused.said, new RegExp(`is not written: byte ${at} is not 0`));
      const look = fs.openSync(device, 'r');
      const byte = Buffer.alloc(1);
      fs.readSync(look, byte, 0, 1, at);
      fs.closeSync(look);
      assert.equal(byte[0], 1, 'it is still there');
      // What it says to type makes room.
      const commands = refused.stderr.split('\n').filter((line) => line.startsWith('  dd '));
      assert.equal(commands.length, 2);
      run('sh', ['-c', `${commands[zeros]} 2>&1`]);
    }
    const { code, said } = benchmark([device, '--destroy-data-on', device, ...SHORT]);
    assert.equal(code, 0, said);
  }),
);

test(
  'Ctrl-C ends it after a result, and zeros are put back',
  whereItCanRun(async () => {
    const device = loopDevice(8 << 20);
    const args = [device, '--destroy-data-on', device];
    const { code, results, stderr } = await interrupted(args, 'SIGINT');
    assert.equal(code, 130, stderr);
    assert.match(stderr, /stopped by SIGINT: what is printed is complete/);
    assert.ok(results.length > 0 && results.length < 294);
    results.forEach(parts);
    assert.ok(fs.readFileSync(device).every((byte) => byte === 0));
  }),
);

test(
  'a kill leaves no file behind',
  whereItCanRun(async () => {
    const cwd = directFolder();
    const { code } = await interrupted([], 'SIGKILL', { cwd });
    assert.equal(code, 'SIGKILL');
    assert.deepEqual(fs.readdirSync(cwd), []);
  }),
);

test(
  'a reader that has seen enough ends it without an error',
  whereItCanRun(() => {
    needLinux();
    const cwd = directFolder();
    const script = `"$0" "$1" --time=20 2>said | head -n 1; wc -c <said`;
    const output = run('sh', ['-c', script, process.execPath, BENCHMARK], { cwd });
    const [line, ...rest] = output.trim().split('\n');
    assert.equal(parts(line).label, 'BUFFERED');
    assert.equal(rest.length, 1);
    assert.doesNotMatch(fs.readFileSync(join(cwd, 'said'), 'utf8'), /EPIPE|Error/);
  }),
);

test(
  'on a filesystem without O_DIRECT the other modes are measured, and that is said',
  whereItCanRun(() => {
    const folder = mounted(['-t', 'ramfs', 'ramfs']);
    const { code, results, said } = benchmark([folder, ...SHORT]);
    assert.equal(code, 0, said);
    assert.deepEqual(
      results.map((line) => parts(line).label),
      LABELS.filter((label) => !label.endsWith('O_DIRECT')),
    );
    assert.match(said, /left out: all modes with O_DIRECT, as the filesystem refuses O_DIRECT \(EINVAL/);
  }),
);

test(
  'a small filesystem is not filled, and a disk that fills up is an error',
  whereItCanRun(() => {
    const { folder } = ext4(32 << 20);
    const fits = benchmark([folder, ...SHORT]);
    assert.equal(fits.code, 0, fits.said);
    assert.match(fits.said, /writing on [\d.]+ MiB in /);
    const sparse = join(folder, 'sparse');
    fs.writeFileSync(sparse, '');
    fs.truncateSync(sparse, 64 << 20);
    const full = benchmark([sparse, '--destroy-data-on', sparse, ...SHORT]);
    assert.equal(full.code, 1, full.said);
    assert.match(full.said, /filling 64 MiB of .*sparse failed: ENOSPC/);
    assert.deepEqual(full.results, []);
  }),
);

test(
  'progress is shown on a terminal, and nowhere else',
  whereItCanRun(() => {
    needLinux();
    const folder = directFolder();
    const command = `'${process.execPath}' '${BENCHMARK}' '${folder}' ${SHORT.join(' ')} 2>&1`;
    const shown = tool('script', 'bsdutils', ['-qec', command, '/dev/null']);
    assert.match(shown, /20 of 21, \d+ s left: 4096 O_SYNC \+ O_DIRECT/);
    assert.doesNotMatch(benchmark([folder, ...SHORT]).stderr, /of 21/);
  }),
);

test('wrong calls and the help', () => {
  const wrong = benchmark(['--no-such-option']);
  assert.equal(wrong.code, 2);
  assert.match(wrong.said, /there is no option --no-such-option; see --help/);
  const help = benchmark(['--help']);
  assert.equal(help.code, 0);
  assert.ok(help.results.some((line) => line.includes('--destroy-data-on PATH')));
  assert.ok(help.results.every((line) => line.length <= 80));
});
