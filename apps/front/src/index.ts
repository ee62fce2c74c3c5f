export { newFront, type Front } from './front.js';
