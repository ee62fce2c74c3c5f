import { parseArgs } from 'node:util';
import type { Mode } from './platform/services.ts';
import { SvcError } from './base/svc-error.ts';

/** One call of ./svc, understood. */
export type Command =
  | { name: 'help' }
  | { name: 'up'; detach: boolean; mode: Mode; lan?: string | true }
  | { name: 'restart'; app: string | undefined }
  | { name: 'down' }
  | { name: 'status' }
  | { name: 'logs'; follow: boolean; service: string | undefined }
  | { name: 'test'; args: string[] }
  | { name: 'bench'; args: string[] }
  | { name: 'demo' }
  | { name: 'admin'; args: string[] }
  | { name: 'nx'; args: string[] }
  | { name: 'npm'; args: string[] };

export const HELP = `usage: ./svc <command>

  up [-d]              installs, builds, starts PostgreSQL and all services, and shows their logs; Ctrl-C stops them
                       -d: returns when everything is ready
     --distributed     a process for each service, over RabbitMQ, behind a front; on the same data, when the other is down
     --rabbitmq        all services in one process, but over RabbitMQ
     --lan[=address]   also over HTTPS on this machine's address in the network, for a phone on the same one, and prints
                       the shop's QR code; administration stays here. The certificate is self-made: the phone warns, and
                       once "visit this website anyway" is chosen, it can pay. Anybody on that network can open the shop
  restart [app]        of --distributed: starts each service anew, one after the other, while the others answer
  down                 stops the services, RabbitMQ and PostgreSQL; the data stays
  status               what runs, where, and whether it is healthy (exit code 1 when it is not)
  logs [-f] [service]  the services' logs, readable; -f follows; "postgres", "rabbitmq" for theirs
  demo env             the demo's addresses and credentials for a shell: eval "$(./svc demo env)"
  admin [command]      on-boards partners and merchants, makes and revokes keys; without a command: what there is
  test [jest options]  all tests: unit, integration on PostgreSQL 18 and 15 and on RabbitMQ, browser; the options
                       select some of them, on PostgreSQL 18, and go to Jest
  bench [part] [--rounds n] [--seconds n] [--against commit]
                       measures: start, payments, acquirers, tracing, webhooks, checkout, history, retrieval;
                       all of them without a part; --against runs the payments on a commit of the past as well. Writes .data/bench/report.md. Half an hour with nothing else on the machine
  nx ...               Nx on the right Node.js, for example: ./svc nx serve hosted-gateway
  npm ...              npm on the right Node.js, for example: ./svc npm run lint
  help                 this text

settings, from the environment
  SVC_PORT_BASE   first port (7300): API +0, gateway +1, shop +2, administration +3, acquirer +4,
                  the till's transformer +5, PostgreSQL +32, RabbitMQ +33
  SVC_DATA_DIR    where data, logs and secrets are kept (.data)
  SVC_AMQP_URL    a RabbitMQ to use (AMQP_URL too); else rabbitmq-server, Docker, or installed with apt-get as root
  SVC_RABBITMQ_MANAGEMENT_URL
                  with SVC_AMQP_URL: its management API with an administrator's login, http://user:password@host:15672.
                  ./svc then makes a user for each service; without it all services share the login of SVC_AMQP_URL
  SVC_ADMIN_URL   the administration API of another platform, for admin, with SVC_ADMIN_KEY
  SVC_PATIENCE    how many times longer than usual to wait for what starts, 1 to 20 (1; 5 where CI is set), for a slow
                  or busy machine
  SVC_CHROMIUM    the browser for the tests (found on the PATH, or installed with apt-get as root)
`;

const FLAG = { type: 'boolean', default: false } as const;
const UP = {
  detach: { ...FLAG, short: 'd' },
  distributed: FLAG,
  rabbitmq: FLAG,
  lan: { type: 'string' },
} as const;
const LOGS = { follow: { ...FLAG, short: 'f' } } as const;

const USAGE = {
  up: 'up [-d] [--distributed | --rabbitmq] [--lan[=address]]',
  restart: 'restart [app]',
  down: 'down',
  status: 'status',
  logs: 'logs [-f] [service]',
  demo: 'demo env',
};
/** What is written after these goes to another program, its --help too. */
const PASSED_TO_PROGRAMS = ['admin', 'test', 'bench', 'nx', 'npm'] as const;

/** Understands the command line, or says in one line what it does not know (exit code 2). */
export function parseCommand(args: readonly string[]): Command {
  const [name, ...rest] = args;
  const program = PASSED_TO_PROGRAMS.find((known) => known === name);
  if (program !== undefined) return { name: program, args: rest };
  if (name === undefined || name === 'help' || [name, ...rest].some((word) => word === '--help' || word === '-h'))
    return { name: 'help' };
  if (!(name in USAGE)) {
    const known = [...Object.keys(USAGE), ...PASSED_TO_PROGRAMS, 'help'];
    throw new SvcError(`there is no command "${name}"`, { hint: `there are ${known.join(', ')}`, exitCode: 2 });
  }
  try {
    return parseOwn(name as keyof typeof USAGE, rest);
  } catch (error) {
    const [message] = (error as Error).message.split('. ');
    const hint = `usage: ./svc ${USAGE[name as keyof typeof USAGE]}`;
    throw new SvcError(`"${name}": ${message}`, { hint, exitCode: 2, cause: error });
  }
}

/** Throws for what the command does not take. */
function parseOwn(name: keyof typeof USAGE, rest: readonly string[]): Command {
  const optionalWord = (words: readonly string[]): string | undefined => {
    if (words.length > 1) throw new Error(`there is one word too many, "${words[1]}"`);
    return words[0];
  };
  switch (name) {
    case 'up': {
      // Its address may be left out, which parseArgs has no notion of.
      const given = rest.map((word) => (word === '--lan' ? '--lan=any' : word));
      const { detach, distributed, rabbitmq, lan } = parseArgs({ args: given, options: UP }).values;
      if (distributed && rabbitmq)
        throw new Error('--distributed or --rabbitmq, not both: a process for each service, or one for all');
      const mode = distributed ? 'distributed' : rabbitmq ? 'rabbitmq' : 'embedded';
      return { name, detach, mode, ...(lan === undefined ? {} : { lan: lan === 'any' ? true : lan }) };
    }
    case 'logs': {
      const { values, positionals } = parseArgs({ args: [...rest], options: LOGS, allowPositionals: true });
      return { name, follow: values.follow, service: optionalWord(positionals) };
    }
    case 'restart':
      return { name, app: optionalWord(parseArgs({ args: [...rest], allowPositionals: true }).positionals) };
    case 'demo':
      if (rest.join(' ') !== 'env') throw new Error('it takes env: eval "$(./svc demo env)"');
      return { name };
    default:
      parseArgs({ args: [...rest] });
      return { name };
  }
}
