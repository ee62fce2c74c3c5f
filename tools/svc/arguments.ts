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

/** What is written after these goes to another program, its --help too. */
const PASSING_ON = ['admin', 'test', 'bench', 'nx', 'npm'] as const;
const COMMANDS = ['up', 'restart', 'down', 'status', 'logs', 'demo', ...PASSING_ON, 'help'] as const;

/** Understands the command line, or says in one line what it does not know (exit code 2). */
export function parseCommand(args: readonly string[]): Command {
  const [name, ...rest] = args;
  const asksForHelp = rest.includes('--help') || rest.includes('-h');
  if (asksForHelp && !PASSING_ON.some((passing) => passing === name)) return { name: 'help' };
  switch (name) {
    case undefined:
    case 'help':
    case '-h':
    case '--help':
      return { name: 'help' };
    case 'up':
      return parseUp(rest);
    case 'restart':
      if (rest.length > 1 || rest[0]?.startsWith('-') === true)
        throw usageError('"restart" takes one app, or none: ./svc restart identity');
      return { name, app: rest[0] };
    case 'down':
    case 'status':
      flags(name, rest, []);
      return { name };
    case 'logs':
      return parseLogs(rest);
    case 'demo':
      if (rest.length !== 1 || rest[0] !== 'env') throw usageError('"demo" takes env: eval "$(./svc demo env)"');
      return { name };
    case 'admin':
    case 'test':
    case 'bench':
    case 'nx':
    case 'npm':
      return { name, args: rest };
    default:
      throw new SvcError(`there is no command "${name}"`, { hint: `there are ${COMMANDS.join(', ')}`, exitCode: 2 });
  }
}

function parseUp(rest: readonly string[]): Command {
  const isLan = (argument: string): boolean => argument === '--lan' || argument.startsWith('--lan=');
  const lan = rest.findLast(isLan);
  const address = rest.find((argument, at) => !argument.startsWith('-') && rest[at - 1] === '--lan');
  if (address !== undefined) throw usageError(`an address of --lan is written --lan=${address}`);
  const given = flags(
    'up',
    rest.filter((argument) => !isLan(argument)),
    ['-d', '--detach', '--distributed', '--rabbitmq'],
    ['--lan', '--lan=<address>'],
  );
  if (given.has('--distributed') && given.has('--rabbitmq'))
    throw usageError('"up" takes --distributed or --rabbitmq, not both: a process for each service, or one for all');
  return {
    name: 'up',
    detach: given.has('-d') || given.has('--detach'),
    mode: given.has('--distributed') ? 'distributed' : given.has('--rabbitmq') ? 'rabbitmq' : 'embedded',
    ...(lan === undefined ? {} : { lan: lan === '--lan' ? true : lan.slice('--lan='.length) }),
  };
}

function parseLogs(rest: readonly string[]): Command {
  const services = rest.filter((argument) => !argument.startsWith('-'));
  const given = flags(
    'logs',
    rest.filter((argument) => argument.startsWith('-')),
    ['-f', '--follow'],
  );
  if (services.length > 1) throw usageError(`"logs" shows one service or all of them, not ${services.join(' and ')}`);
  return { name: 'logs', follow: given.size > 0, service: services[0] };
}

/** @param further options that are known and were looked at already; named to whoever mistypes one */
function flags(
  command: string,
  given: readonly string[],
  known: readonly string[],
  further: readonly string[] = [],
): Set<string> {
  const unknown = given.find((argument) => !known.includes(argument));
  if (unknown === undefined) return new Set(given);
  const all = [...known, ...further];
  const takes = all.length === 0 ? 'it takes nothing' : `it takes ${all.join(', ')}`;
  throw usageError(`"${command}" does not know "${unknown}", ${takes}`);
}

function usageError(message: string): SvcError {
  return new SvcError(message, { hint: './svc help says more', exitCode: 2 });
}
