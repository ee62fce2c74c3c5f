import { inspect } from 'node:util';
import { exitWithError } from './run-until-stopped.js';

test('the error of a failed start is printed without properties that may contain a secret', () => {
  const exit = jest.spyOn(process, 'exit').mockImplementation(() => undefined as never);
  const print = jest.spyOn(console, 'error').mockImplementation(() => undefined);
  try {
    new URL('postgres://role:secret@');
  } catch (error) {
    exitWithError(error);
  }
  const printed = inspect(print.mock.calls, { depth: 5 });
  expect(printed).toContain('ERR_INVALID_URL');
  expect(printed).not.toContain('secret');
  expect(exit).toHaveBeenCalledWith(1);
  exit.mockRestore();
  print.mockRestore();
});
