import { columnDrift, type TestService } from '@svc/testing';
import { startIdentity } from '../test/identity.js';

let identity: TestService;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.stop());

test('has entities that are exactly the migrated tables', async () => {
  expect(await columnDrift(identity.dataSource)).toEqual([]);
});
