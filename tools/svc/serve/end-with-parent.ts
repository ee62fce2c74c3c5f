/** Imported by a child process of `./svc nx serve`: it stops when its parent process has ended, also after kill -9. */
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
process.channel?.unref();
