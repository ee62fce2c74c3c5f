import { columnDrift, startTestService, type TestService } from '@svc/testing';
import { identityService } from './index.js';

let identity: TestService;
beforeAll(async () => {
  identity = await startTestService(identityService, { env: { SVC_ADMIN_KEY: 'an administration key for tests 1' } });
});
afterAll(() => identity.stop());

test('has entities that are exactly the migrated tables', async () => {
  expect(await columnDrift(identity.dataSource)).toEqual([]);
});
