#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# corpus-lib.sh - the inputs of fuzz targets that are worth keeping: tests/fuzz/corpus has an archive of them
# for each. To be sourced.

corpus_kept="${BASH_SOURCE[0]%/*}/corpus"

# corpus_unpack TARGET DIRECTORY: into that folder, which is made where there is none
corpus_unpack()
{
	local archive=$corpus_kept/${1##*/}.tar.xz
	mkdir -p "$2" || return
	[ ! -e "$archive" ] || tar -x -J -C "$2" --no-same-owner -f "$archive"
}

# corpus_pack TARGET DIRECTORY: the same files give the same archive, so that only what is new is a change
corpus_pack()
{
	mkdir -p "$corpus_kept" &&
		tar -c --sort=name --owner=0 --group=0 --numeric-owner --mode=0644 --mtime=@0 -C "$2" . |
		xz -9 >"$corpus_kept/${1##*/}.tar.xz"
}
