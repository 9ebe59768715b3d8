'use strict';

const { withCallback } = require('./lib/callback.js');
const { callbacks } = require('./lib/classic.js');
const descriptors = require('./lib/descriptors.js');
const { DirectFile } = require('./lib/direct-file.js');
const { getAlignedBuffer } = require('./lib/memory.js');
const { O_DIRECT, O_DSYNC, O_EXCL, O_EXLOCK, O_SYNC } = require('./lib/native.js');
const promises = require('./promises.js');

module.exports = {
  // What @ronomon/direct-io 3.0.1 exports.
  O_DIRECT,
  O_DSYNC,
  O_EXCL,
  O_EXLOCK,
  O_SYNC,
  getAlignedBuffer,
  getBlockDevice: callbacks.getBlockDevice,
  setF_NOCACHE: callbacks.setF_NOCACHE,
  setFlock: callbacks.setFlock,
  setFSCTL_LOCK_VOLUME: callbacks.setFSCTL_LOCK_VOLUME,

  // What is new.
  DirectFile,
  getDirectIOAlignment: withCallback(descriptors.getDirectIOAlignment, 'getDirectIOAlignment'),
  getGeometry: withCallback(descriptors.getGeometry, 'getGeometry'),
  getGeometryUnder: withCallback(descriptors.getGeometryUnder, 'getGeometryUnder'),
  promises,
  writeDurable: withCallback(descriptors.writeDurable, 'writeDurable'),
};
