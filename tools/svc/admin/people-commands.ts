import { request } from './command.ts';

/** People of merchants in the console. */
export const peopleCommands = [
  request(
    'people invite <merchantId> <email> <role> [--site=…]',
    'invites an owner, or finance, support or developer, and prints the path of the one-time link in the console',
    'POST {merchantId}/people',
    ({ email, role, site }) => ({ email, role, ...(site === undefined ? {} : { siteId: Number(site) }) }),
  ),
  request('people list <merchantId>', 'lists people and open invitations of a merchant', 'GET {merchantId}/people'),
  request(
    'people remove <merchantId> <id>',
    'removes a person from a merchant and its sites, or withdraws an invitation',
    'DELETE {merchantId}/people/{id}',
  ),
  request(
    'people reset-factors <merchantId> <id>',
    'removes the lost second factors of a person, who then sets up a new one with the password alone',
    'DELETE {merchantId}/people/{id}/second-factors',
  ),
  request(
    'people sign-in-link <email>',
    'prints the path of a link that signs the person in once, in development only',
    'POST /people/sign-in-link',
    ({ email }) => ({ email }),
  ),
];
