'use strict';

/** Why nothing was measured: the call is wrong, or would cost somebody data. */
class Refusal extends Error {}

module.exports = { Refusal };
