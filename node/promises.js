'use strict';

const { promises } = require('./lib/classic.js');
const descriptors = require('./lib/descriptors.js');

module.exports = { ...promises, ...descriptors };
