// Loaded by the test environment (one-context.ts). Jest compiles every module again for every test file. This file
// keeps V8's code cache of the first compilation, so that each worker compiles a module only once. Modules are still
// evaluated for each test file.
const vm = require('node:vm');

const { compileFunction } = vm;
/** By file name: source text and V8's code cache. */
const compiled = new Map();

vm.compileFunction = function compileOnce(code, params, given) {
  // The default context needs no option, and Node.js accepts only contexts that it has created.
  const options = given?.parsingContext === globalThis ? { ...given, parsingContext: undefined } : given;
  const name = options?.filename;
  const known = compiled.get(name);
  if (known?.code === code) return compileFunction(code, params, { ...options, cachedData: known.data });
  const result = compileFunction(code, params, { ...options, produceCachedData: name !== undefined });
  if (result.cachedData !== undefined) compiled.set(name, { code, data: result.cachedData });
  return result;
};
