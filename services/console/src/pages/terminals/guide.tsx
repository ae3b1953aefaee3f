import type { TerminalProtocols } from '@outrider/client';
import { IconButton } from '../../parts/buttons.tsx';
import { toast } from '../../parts/toast.tsx';
import { withQuery } from '../../router.ts';
import type { TerminalProtocol } from '../vehicles/protocols.ts';
import { type Block, type Piece, readDevicePage } from './device-page.ts';
import { devicePageOf } from './device-pages.ts';
import { helpPieces } from './names.ts';
import { terminalWords } from './words.ts';

/**
 * How to configure a terminal for this service: protocol, host and port, and the documentation page of the protocol.
 */
export function Guide({ host, items, chosen }: TerminalProtocols & { chosen: string | null }) {
  const terminals = terminalWords();
  const shown = items.find(({ name }) => name === chosen);
  return (
    <>
      <nav class="protocols" aria-label={terminals.guideHint}>
        {items.map(({ name, title }) => (
          <a
            key={name}
            class="button"
            href={withQuery({ protocol: name })}
            aria-current={name === chosen ? 'true' : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      {shown === undefined ? (
        <p>
          <small>{terminals.guideHint}</small>
        </p>
      ) : (
        <Protocol protocol={shown} host={host ?? location.hostname} />
      )}
    </>
  );
}

function Protocol({ protocol, host }: { protocol: TerminalProtocol; host: string }) {
  const terminals = terminalWords();
  const { name, title, transport, port, tlsPort, authentication, help, exampleId } = protocol;
  const page = devicePageOf(name);
  return (
    <article class="guide" aria-label={title}>
      <h3>{title}</h3>
      <dl class="facts">
        <Fact word={terminals.host} value={host} />
        <Fact word={terminals.port} value={port === null ? null : String(port)} />
        {tlsPort !== null && <Fact word={terminals.tlsPort} value={String(tlsPort)} />}
        <dt>{terminals.transport}</dt>
        <dd>{transport.toUpperCase()}</dd>
        <dt>{terminals.exampleId}</dt>
        <dd>{exampleId}</dd>
      </dl>
      <ol class="steps">
        <li>{terminals.steps.point}</li>
        <li>{terminals.steps.id}</li>
        <li>
          {authentication === null ? (
            terminals.noSecret
          ) : (
            <>
              {terminals.steps.secret} <Markdown text={authentication} host={host} />
            </>
          )}
        </li>
        <li>{terminals.steps.see}</li>
      </ol>
      <h3>{terminals.aboutProtocol}</h3>
      {page === null ? (
        <p>
          <Markdown text={help} host={host} />
        </p>
      ) : (
        <DevicePage blocks={readDevicePage(page, { host, port })} />
      )}
    </article>
  );
}

/** A documentation page, in English. */
function DevicePage({ blocks }: { blocks: readonly Block[] }) {
  return (
    <div class="device-page" lang="en" dir="ltr">
      {blocks.map((block, nth) => (
        <PageBlock key={nth} block={block} />
      ))}
    </div>
  );
}

function PageBlock({ block }: { block: Block }) {
  switch (block.type) {
    case 'heading':
      return <h4>{block.text}</h4>;
    case 'text':
      return <p>{block.pieces.map(shown)}</p>;
    case 'list': {
      const items = block.items.map((item, nth) => <li key={nth}>{item.map(shown)}</li>);
      return block.isOrdered ? <ol>{items}</ol> : <ul>{items}</ul>;
    }
    case 'table':
      return (
        <table>
          <thead>
            <tr>
              {block.head.map((cell, nth) => (
                <th key={nth}>{cell.map(shown)}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {block.rows.map((row, nth) => (
              <tr key={nth}>
                {row.map((cell, column) => (
                  <td key={column}>{cell.map(shown)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      );
  }
}

function shown({ text, style }: Piece) {
  if (style === 'code') return <code>{text}</code>;
  return style === 'strong' ? <strong>{text}</strong> : text;
}

/** Notes of the service about a protocol, in English. */
function Markdown({ text, host }: { text: string; host: string }) {
  return (
    <span lang="en" dir="ltr">
      {helpPieces(text, host).map(({ text: piece, isCode }) =>
        isCode ? <code key={piece}>{piece}</code> : <span key={piece}>{piece}</span>,
      )}
    </span>
  );
}

function Fact({ word, value }: { word: string; value: string | null }) {
  const terminals = terminalWords();
  const copy = async () => {
    await navigator.clipboard.writeText(value ?? '');
    toast(terminals.copied);
  };
  return (
    <>
      <dt>{word}</dt>
      <dd>
        {value === null ? (
          terminals.notListening
        ) : (
          <>
            <code dir="ltr">{value}</code>
            {/* Browsers allow copying only on secure pages. */}
            {isSecureContext && <IconButton icon="copy" label={terminals.copy(word)} onClick={() => void copy()} />}
          </>
        )}
      </dd>
    </>
  );
}
