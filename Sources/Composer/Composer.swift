internal import Composition

/// Composes the recordings of a call into one file.
package struct Composer {}
