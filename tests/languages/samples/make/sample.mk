# Builds and ships the service.

CC ?= gcc
CFLAGS := -O2 -Wall
export VERSION = 1.2.0
sources = $(wildcard src/*.c)
objects := $(sources:.c=.o)

include config.mk
-include $(objects:.o=.d)

.PHONY: all clean test
.DEFAULT_GOAL := all

# Everything that is shipped.
all: server worker

server worker: $(objects)
	$(CC) $(CFLAGS) -o $@ $^

# How one object is made.
%.o: %.c
	$(CC) -c $(CFLAGS) $< -o $@

build/report.txt: test
	./report > $@

$(DESTDIR)/bin/server: server
	install $< $@

define banner
@echo "== $(1) =="
endef

ifeq ($(DEBUG),1)
CFLAGS_EXTRA = -g
debug: all
	gdb ./server
endif

test: CFLAGS += -DTEST
test: all
	$(call banner,tests)
	./run-tests

clean:
	rm -f $(objects)
