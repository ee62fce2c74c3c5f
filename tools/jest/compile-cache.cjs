// Loaded by the test environment (one-context.ts). Jest compiles every module of every test file anew; with V8's own data
// of the first compilation, each worker compiles a module once. Modules are still evaluated for each file.
const vm = require('node:vm');

const { compileFunction } = vm;
/** By file name: source text and what V8 made of it. */
const compiled = new Map();

vm.compileFunction = function compileOnce(code, params, given) {
  // The context that is there needs no naming, and Node.js takes none that it has not made.
  const options = given?.parsingContext === globalThis ? { ...given, parsingContext: undefined } : given;
  const name = options?.filename;
  const known = compiled.get(name);
  if (known?.code === code) return compileFunction(code, params, { ...options, cachedData: known.data });
  const result = compileFunction(code, params, { ...options, produceCachedData: name !== undefined });
  if (result.cachedData !== undefined) compiled.set(name, { code, data: result.cachedData });
  return result;
};
