import type { AccessRefusal } from '@outrider/domain';
import type { RefusalReason } from '@outrider/protocols';

/** Reason why the gateway, rather than the codec, ends a connection. */
export type ConnectionEnd = 'idle' | 'not-identified-in-time' | 'superseded' | 'answers-unread';

/** Reason of a refused connection or packet: by the codec, the gateway, or the access settings of the vehicle. */
export type Refusal = RefusalReason | ConnectionEnd | AccessRefusal;
