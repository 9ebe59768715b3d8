export * from './promises.js';
import promises = require('./promises.js');
export default promises;
