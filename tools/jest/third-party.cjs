// Jest's transform for the modules of other people: Node.js itself loads them, once for each worker. While no test file
// runs, Jest loads its own parts through this transform too, and they stay as they are.
const LOAD_THIRD_PARTY = Symbol.for('svc.load-third-party');

const isTestRunning = () => LOAD_THIRD_PARTY in globalThis;

module.exports = {
  canInstrument: false,
  getCacheKey: (source, path) => `${isTestRunning() ? 'loaded by Node.js' : 'as it is'} ${path} ${source.length}`,
  process: (source, path) => ({
    code: isTestRunning()
      ? `module.exports = globalThis[Symbol.for('svc.load-third-party')](${JSON.stringify(path)});`
      : source,
  }),
};
