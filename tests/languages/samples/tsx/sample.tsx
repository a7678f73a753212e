import React, { useState } from "react";
import { Store } from "./store";

/** What a card shows. */
export interface CardProps {
  title: string;
  onOpen?: () => void;
}

type Size = "small" | "large";

export enum Theme {
  Dark,
}

// Counts how often it was opened.
export const Card: React.FC<CardProps> = ({ title, onOpen }) => {
  const [count, setCount] = useState(0);
  const open = () => {
    setCount(count + 1);
    onOpen?.();
  };
  return (
    <section onClick={open}>
      <Heading level={2}>{title}</Heading>
      <UI.Badge value={count} />
    </section>
  );
};

export function List({ items }: { items: CardProps[] }) {
  return <>{items.map((item) => <Card key={item.title} {...item} />)}</>;
}

export default class Page extends React.Component<CardProps> {
  state = { size: "small" as Size };

  render() {
    return <List items={[]} />;
  }
}

export const useStore = <T,>(store: Store<T>): T => store.read<T>();

export const Memo = React.memo(function Inner() {
  return <Card title="x" />;
});
