import { columnDrift, type TestService } from '@svc/testing';
import { startIdentity } from '../test/identity.js';

let identity: TestService;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.stop());

test('the entities match the migrated tables exactly', async () => {
  expect(await columnDrift(identity.dataSource)).toEqual([]);
});
