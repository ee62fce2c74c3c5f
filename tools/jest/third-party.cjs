// Jest's transform for third-party modules: Node.js itself loads them, once for each worker. While no test file runs,
// Jest loads its own modules through this transform too, and they stay unchanged.
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
