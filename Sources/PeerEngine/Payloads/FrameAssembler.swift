package import NIOCore

/// Assembles the frames of one codec of video from packets, which are passed in order of their sequence numbers.
package protocol FrameAssembler: Sendable {
  associatedtype Dependency: FrameDependency
  typealias Frame = AssembledFrame<Dependency>

  /// Whether a keyframe is being assembled of which nothing is missing yet.
  var isGatheringKeyframe: Bool { get }

  /// Adds the next packet; call ``popFrame()`` for the frames that end with it or before it.
  mutating func add(_ packet: ReceivedPacket)
  /// Notes that the next `count` packets were given up.
  mutating func addLost(_ count: Int)
  /// Removes and returns the next frame that has ended, in order.
  mutating func popFrame() -> Frame?
  /// Replaces the parameter sets of the description.
  mutating func setDescribed(_ parameterSets: [ByteBuffer])
  /// Discards a frame whose end has not arrived, if nothing before that is missing: the call ended while it was sent, so it is neither
  /// lost nor damaged.
  mutating func discardUnfinished()
  /// Ends the open frame: no more packets of this source follow.
  mutating func finish()
  /// Forgets what the source sent once for several frames: another source follows.
  mutating func restart()
}

extension FrameAssembler {
  package mutating func setDescribed(_ parameterSets: [ByteBuffer]) {}
  package mutating func restart() {}
}
