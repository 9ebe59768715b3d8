export * from './index.js';
import directIO = require('./index.js');
export default directIO;
