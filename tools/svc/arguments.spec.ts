import { HELP, parseCommand } from './arguments.ts';
import { SvcError } from './base/svc-error.ts';

describe('parseCommand', () => {
  it.each([
    [[], { name: 'help' }],
    [['--help'], { name: 'help' }],
    [['up', '--help'], { name: 'help' }],
    [['down', '-h'], { name: 'help' }],
    [['up'], { name: 'up', detach: false, mode: 'embedded', acquirer: 'simulated' }],
    [['up', '-d'], { name: 'up', detach: true, mode: 'embedded', acquirer: 'simulated' }],
    [['up', '--distributed', '--detach'], { name: 'up', detach: true, mode: 'distributed', acquirer: 'simulated' }],
    [['up', '--observe'], { name: 'up', detach: false, mode: 'embedded', acquirer: 'simulated', observe: true }],
    [['up', '--rabbitmq'], { name: 'up', detach: false, mode: 'rabbitmq', acquirer: 'simulated' }],
    [['up', '--lan'], { name: 'up', detach: false, mode: 'embedded', acquirer: 'simulated', lan: true }],
    [
      ['up', '-d', '--lan=192.168.1.5', '--distributed'],
      { name: 'up', detach: true, mode: 'distributed', acquirer: 'simulated', lan: '192.168.1.5' },
    ],
    [
      ['up', '--acquirer', 'adyen-emulator', '-d'],
      { name: 'up', detach: true, mode: 'embedded', acquirer: 'adyen-emulator' },
    ],
    [['restart'], { name: 'restart', app: undefined }],
    [['restart', 'identity'], { name: 'restart', app: 'identity' }],
    [['down'], { name: 'down' }],
    [['logs'], { name: 'logs', follow: false, service: undefined }],
    [['logs', 'identity', '-f'], { name: 'logs', follow: true, service: 'identity' }],
    [
      ['test', '--selectProjects', 'unit', 'libs/kernel'],
      { name: 'test', args: ['--selectProjects', 'unit', 'libs/kernel'] },
    ],
    [['admin', 'keys', 'list', '1001'], { name: 'admin', args: ['keys', 'list', '1001'] }],
    [['demo', 'env'], { name: 'demo' }],
    [['nx', 'serve', '--help'], { name: 'nx', args: ['serve', '--help'] }],
    [['nx', 'serve', 'hosted-gateway'], { name: 'nx', args: ['serve', 'hosted-gateway'] }],
  ])('parses %j', (args, command) => {
    expect(parseCommand(args)).toEqual(command);
  });

  it.each([
    [['start'], /no command "start"; there are up, restart, down, status/],
    [['demo'], /"demo": the subcommand is env/],
    [
      ['up', '-x'],
      /"up": Unknown option '-x'; usage: \.\/svc up \[-d\] \[--distributed \| --rabbitmq\] \[--acquirer name\] \[--lan\[=address\]\]/,
    ],
    [['up', '--distributed', '--rabbitmq'], /use either --distributed or --rabbitmq/],
    [['up', '--lan', '192.168.1.5'], /Unexpected argument '192\.168\.1\.5'.*--lan\[=address\]/],
    [['up', '--acquirer', 'adyen'], /there is no acquirer "adyen": use simulated or adyen-emulator/],
    [['up', '--acquirer'], /Option '--acquirer <value>' argument missing/],
    [['up', '--lands'], /Unknown option '--lands'/],
    [['down', 'everything'], /"down": Unexpected argument 'everything'/],
    [['logs', 'identity', 'demo-shop'], /unexpected word "demo-shop"; usage: .* logs \[-f\] \[service\]/],
    [['restart', 'identity', 'demo-shop'], /unexpected word "demo-shop"; usage: .* restart \[app\]/],
  ])('rejects %j with exit code 2', (args, message) => {
    const error = catchError(() => parseCommand(args));
    expect(error).toBeInstanceOf(SvcError);
    expect((error as SvcError).line).toMatch(message);
    expect((error as SvcError).exitCode).toBe(2);
  });
});

test('the help lists every command', () => {
  for (const name of ['up', 'down', 'status', 'restart', 'logs', 'admin', 'test', 'bench', 'nx', 'npm', 'help'])
    expect(HELP).toMatch(new RegExp(`^  ${name}\\b`, 'm'));
});

/** Returns the error that the action throws. */
function catchError(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  return undefined;
}
