// Runs inside of Jest before each spec file: every statement passes the environment before it is sent.
import pg from 'pg';

const { __svcMutants } = globalThis;
const { query } = pg.Client.prototype;

pg.Client.prototype.query = function (config, ...rest) {
  if (typeof config === 'string') return query.call(this, __svcMutants.statement(config), ...rest);
  if (typeof config?.text !== 'string') return query.call(this, config, ...rest);
  const text = __svcMutants.statement(config.text);
  if (text === config.text) return query.call(this, config, ...rest);
  // A prepared statement is known by its name, and this is another one.
  const name = config.name === undefined ? {} : { name: `${config.name}_${__svcMutants.active.split('#')[1]}` };
  return query.call(this, { ...config, ...name, text }, ...rest);
};
