export { readSettings, TransformerSettings } from './settings.js';
export { startTransformer, type Transformer } from './transformer.js';
