// Loaded by the test environment (one-context.ts). Jest compiles every module again for every test file. This file
// keeps V8's code cache of the first compilation, so that each worker compiles a module only once. Modules are still
// evaluated for each test file.
const vm = require('node:vm');

const { compileFunction } = vm;
/** By file name: source text and V8's code cache. */
const compiled = new Map();

vm.compileFunction = function compileOnce(code, params, passed) {
  // Omit `parsingContext` for the global object: Node.js uses that context by default, and accepts in this option only
  // contexts that `vm.createContext` returned.
  const options = passed?.parsingContext === globalThis ? { ...passed, parsingContext: undefined } : passed;
  const name = options?.filename;
  const cached = compiled.get(name);
  if (cached?.code === code) return compileFunction(code, params, { ...options, cachedData: cached.data });
  const result = compileFunction(code, params, { ...options, produceCachedData: name !== undefined });
  if (result.cachedData !== undefined) compiled.set(name, { code, data: result.cachedData });
  return result;
};
