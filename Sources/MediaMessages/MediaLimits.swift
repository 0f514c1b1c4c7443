/// What the messages of the program `chatbot-media` may say.
package enum MediaLimits {
  /// The version of the messages. Both programs are of one build; another version is refused.
  package static let version: UInt8 = 3
  /// The maximum size of a message, in bytes.
  package static let messageBytes = 512
  /// The size of the memory that the program shares with a worker. Only what is used of it takes memory of the machine.
  package static let sharedBytes = 32 << 20
  /// The maximum size of an encoded frame, in bytes.
  package static let frameBytes = 4 << 20
  /// The maximum width and height of a video frame.
  package static let side = 4_096
  /// The maximum number of samples of each channel in one output.
  package static let samples = 192_000
  /// The maximum rate of audio, in Hz.
  package static let sampleRate = 192_000
  /// The maximum number of workers at a time, without those that others are about to replace.
  package static let workers = 64
  /// The maximum number of processes of one launcher: each of the workers may wait for the end of one that it replaces.
  package static let processes = 2 * workers
  /// The maximum number of decoders of a worker at a time.
  package static let decoders = 64
  /// The maximum length of a reason, in bytes.
  package static let reasonBytes = 200
}

/// A message that breaks the format, which only a broken or hostile process sends.
package struct MessageError: Error, Hashable, CustomStringConvertible {
  /// A clause, for example `a plane is outside of the memory`.
  package let description: String

  package init(_ description: String) { self.description = description }
}
