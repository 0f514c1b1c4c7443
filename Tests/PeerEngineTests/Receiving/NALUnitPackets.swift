import Media
import NIOCore
import PeerEngine
import RTP
import Testing

/// A codec with NAL units and its packetizer.
protocol PacketizedFormat: NALUnitFrameFormat {
  /// Returns the payloads of a frame as our sender splits it.
  static func packetize(_ frame: ByteBuffer, size: Int) -> [ByteBuffer]
}

extension H264FrameFormat: PacketizedFormat {
  static func packetize(_ frame: ByteBuffer, size: Int) -> [ByteBuffer] {
    H264Packetizer(maximumPayloadSize: size).packetize(frame: frame)
  }
}

extension H265FrameFormat: PacketizedFormat {
  static func packetize(_ frame: ByteBuffer, size: Int) -> [ByteBuffer] {
    H265Packetizer(maximumPayloadSize: size).packetize(frame: frame)
  }
}

/// Returns a packet; the frame's number is its timestamp.
func nalUnitPacket(_ payload: ByteBuffer, _ frame: Int, marker: Bool = false) -> ReceivedPacket {
  ReceivedPacket(payload: payload, timestamp: UInt32(frame), marker: marker, arrival: .now + .milliseconds(frame))
}

extension NALUnitFrameAssembler where Format: PacketizedFormat {
  /// Adds a packet; the frame's number is its timestamp.
  mutating func add(_ payload: ByteBuffer, _ frame: Int, marker: Bool = false) {
    add(nalUnitPacket(payload, frame, marker: marker))
  }

  /// Adds the packets of a frame as our sender splits it.
  mutating func add(_ units: [ByteBuffer], _ frame: Int, size: Int = 1_200, marks: Bool = true) {
    let payloads = Format.packetize(H264FrameMaker.frame(units), size: size)
    for (position, payload) in payloads.enumerated() {
      add(payload, frame, marker: marks && position == payloads.count - 1)
    }
  }

  /// Adds a keyframe, a frame without one of its six packets, and another frame; returns the last two as they come out.
  ///
  /// - Parameter gap: which packet is missing.
  static func frames(
    without gap: Int, keyframe: [ByteBuffer], damaged: [ByteBuffer], next: [ByteBuffer]
  ) throws -> (damaged: Frame, next: Frame) {
    var assembler = Self()
    assembler.add(keyframe, 1)
    _ = try required(assembler.popFrame())
    let payloads = Format.packetize(H264FrameMaker.frame(damaged), size: 40)
    #expect(payloads.count == 6)
    for (position, payload) in payloads.enumerated() {
      if position == gap { assembler.addLost(1) } else { assembler.add(payload, 2, marker: position == 5) }
    }
    assembler.add(next, 3)
    let found = (try required(assembler.popFrame()), try required(assembler.popFrame()))
    #expect(!found.0.dependency.isComplete, "\(gap)")
    #expect(found.1.dependency.isComplete && found.1.timestamp == 3, "\(gap)")
    return found
  }
}
