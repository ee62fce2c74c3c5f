import { parseNumber, request } from './command.ts';

/** People who operate the platform, and their keys. */
export const operatorCommands = [
  request(
    'operators invite <email> [--role=…]',
    'invites an operator of the platform as viewer, who reads everything, or as operator, who also changes, and prints the path of the one-time link in the console',
    'POST /operators',
    ({ email, role = 'viewer' }) => ({ email, role }),
  ),
  request('operators list', 'lists the operators and their open invitations', 'GET /operators'),
  request(
    'operators change <personId> <role>',
    'makes an operator viewer or operator',
    'PATCH /operators/{personId}',
    ({ role }) => ({ role }),
  ),
  request('operators remove <id>', 'removes an operator, or withdraws an invitation', 'DELETE /operators/{id}'),
  request(
    'operator-keys create <email> [--role=…] [--days=…]',
    'creates the key of an operator, as viewer or as operator, for 30 days or 1 to 90, and ends the shared key with the first one of role operator',
    'POST /operator-keys',
    ({ email, role = 'viewer', days = '30' }) => ({ email, role, days: parseNumber(days, 2, 'days') }),
  ),
  request('operator-keys list', 'lists the keys of operators', 'GET /operator-keys#operatorKeys'),
  request('operator-keys revoke <keyId>', 'revokes the key of an operator', 'DELETE /operator-keys/{keyId}'),
];
