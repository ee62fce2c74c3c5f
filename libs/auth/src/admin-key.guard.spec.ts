import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { DomainError } from '@svc/kernel';
import { AdminKeyGuard } from './admin-key.guard.js';

describe('AdminKeyGuard', () => {
  const guard = new AdminKeyGuard('an administration key for tests 1');
  const canActivate = (headers: Record<string, unknown>) =>
    guard.canActivate(new ExecutionContextHost([{ headers, method: 'GET' }]));

  it('admits a request with the administration key in x-admin-key', () => {
    expect(canActivate({ 'x-admin-key': 'an administration key for tests 1' })).toBe(true);
  });

  it.each([
    [{}],
    [{ 'x-admin-key': '' }],
    [{ 'x-admin-key': 'an administration key for tests 2' }],
    [{ 'x-admin-key': 'an administration key for tests' }],
    [{ 'x-admin-key': 'an administration key for tests 1 ' }],
    [{ 'x-admin-key': ['an administration key for tests 1'] }],
    [{ 'x-api-key': 'an administration key for tests 1' }],
    [{ authorization: 'Bearer an administration key for tests 1' }],
  ])('rejects a request with the headers %j', (headers) => {
    expect(() => canActivate(headers)).toThrow(new DomainError('credentials.invalid'));
  });
});
