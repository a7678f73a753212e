package com.example.bank;

import java.util.List;
import static java.util.Objects.requireNonNull;
import java.io.*;

/**
 * Keeps the balance of one customer.
 */
@Entity
@Table(name = "accounts")
public abstract class Account<T extends Currency> extends Base<T> implements Comparable<Account<T>>, java.io.Closeable {

    /** The largest sum that can be moved at once. */
    public static final int MAX_AMOUNT = 10_000;
    private long balance, reserved = 0;
    @Inject
    protected final List<Runnable> listeners = new ArrayList<>();

    // Opens an empty account.
    public Account(String owner) {
        super(owner);
        this.balance = 0;
    }

    /**
     * Moves money in.
     *
     * @param amount how much
     */
    @Override
    public synchronized void deposit(long amount) throws LimitException {
        long local = amount;
        requireNonNull(this.listeners).forEach(l -> l.run());
        Runnable task = new Runnable() {
            @Override
            public void run() {
                check(local);
            }
        };
    }

    protected abstract <R> R visit(Visitor<R> visitor);

    /** One step. */
    static class Entry {
        int amount;
    }

    interface Listener extends EventListener, Runnable {
        int LIMIT = 3;
        void changed(Account<?> account);
        default void closed() {}
    }

    enum Status implements Coded {
        /** In use. */
        OPEN(1) {
            @Override
            public int code() { return 2; }
        },
        CLOSED(0);

        private final int code;

        Status(int code) {
            this.code = code;
        }

        public int code() {
            return code;
        }
    }
}

record Point(int x, int y) implements Shape {
    Point {
        check(x);
    }

    static Point origin() {
        return new Point(0, 0);
    }
}

@interface Checked {
    String value() default "";
}

sealed interface Shape permits Point {}
