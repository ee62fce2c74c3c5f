import { request } from './command.ts';

/** People who operate the platform. */
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
];
