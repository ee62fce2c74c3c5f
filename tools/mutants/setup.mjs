// Runs inside Jest before each spec file. The test environment can then replace any SQL statement before it is sent.
import pg from 'pg';

const { __svcMutants } = globalThis;
const { query } = pg.Client.prototype;

pg.Client.prototype.query = function (config, ...rest) {
  if (typeof config === 'string') return query.call(this, __svcMutants.statement(config), ...rest);
  if (typeof config?.text !== 'string') return query.call(this, config, ...rest);
  const text = __svcMutants.statement(config.text);
  if (text === config.text) return query.call(this, config, ...rest);
  // PostgreSQL identifies a prepared statement by its name, so the mutated statement needs another name.
  const name = config.name === undefined ? {} : { name: `${config.name}_${__svcMutants.active.split('#')[1]}` };
  return query.call(this, { ...config, ...name, text }, ...rest);
};
