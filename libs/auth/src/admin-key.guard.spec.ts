import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { DomainError } from '@svc/kernel';
import { AdminKeyGuard } from './admin-key.guard.js';

describe('AdminKeyGuard', () => {
  const guard = new AdminKeyGuard('an administration key for tests 1');
  const lets = (headers: Record<string, unknown>) => guard.canActivate(new ExecutionContextHost([{ headers }]));

  it('lets the administration key through', () => {
    expect(lets({ 'x-admin-key': 'an administration key for tests 1' })).toBe(true);
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
  ])('refuses %j', (headers) => {
    expect(() => lets(headers)).toThrow(new DomainError('credentials.invalid'));
  });
});
