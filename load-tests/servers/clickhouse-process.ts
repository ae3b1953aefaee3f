import { openHttpFront } from '@outrider/warehouse/http-front';

/*
 * ClickHouse's engine behind its HTTP interface as a server of its own: folder and port are its arguments. It ends as it is told
 * to, in the middle of whatever it does.
 */
const [folder = '', port = ''] = process.argv.slice(2);
await openHttpFront(folder, Number(port));
