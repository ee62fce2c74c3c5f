/** Checks a login. An open port is not enough, because a starting broker listens before it accepts logins. */
import { connect } from 'amqplib';

type LoginResult = 'accepted' | 'refused' | 'no answer';

/** @param url amqp:// or amqps:// URL with user and password */
export async function tryLogin(url: string): Promise<LoginResult> {
  try {
    const connection = await connect(url, { timeout: 3000 });
    connection.on('error', () => undefined); // The broker may close the connection first.
    await connection.close().catch(() => undefined);
    return 'accepted';
  } catch (error) {
    return /ACCESS.REFUSED|NOT.ALLOWED/.test(String(error)) ? 'refused' : 'no answer';
  }
}
