// Runs inside Jest before each spec file. The test environment can then replace any SQL statement before it is sent.
import pg from 'pg';

const IS_WRAPPED = Symbol.for('svc.mutants.wrapped-query');

// `pg` stays loaded while a process runs several spec files. So the method is replaced only once, and each call uses the
// environment of the current spec file: that of an earlier file still has its own active mutant.
if (!(IS_WRAPPED in pg.Client.prototype)) {
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (config, ...rest) {
    const mutants = globalThis.__svcMutants;
    if (mutants === undefined) return query.call(this, config, ...rest);
    if (typeof config === 'string') return query.call(this, mutants.statement(config), ...rest);
    if (typeof config?.text !== 'string') return query.call(this, config, ...rest);
    const text = mutants.statement(config.text);
    if (text === config.text) return query.call(this, config, ...rest);
    // PostgreSQL identifies a prepared statement by its name, so the mutated statement needs another name.
    const name = config.name === undefined ? {} : { name: `${config.name}_${mutants.active.split('#')[1]}` };
    return query.call(this, { ...config, ...name, text }, ...rest);
  };
  pg.Client.prototype[IS_WRAPPED] = true;
}
