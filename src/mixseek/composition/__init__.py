"""The only room that knows concrete classes: parts in, a working whole out."""
