import Bitstream
import Foundation
import Media
import NIOCore
import NetworkEmulation
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("H.264 between two sessions")
struct H264CallTests {
  private static func media() -> Negotiated {
    var media = Negotiated()
    media.video = .h264
    return media
  }

  /// A source that makes keyframes, so that no group of pictures is replayed.
  private static var configuration: MediaSession.Configuration {
    var configuration = MediaSession.Configuration()
    configuration.sending.keyframeResponse = .requestFromSource
    return configuration
  }

  /// Returns a frame of a stream, at 30 frames a second; each has information with its number.
  private static func frame(_ number: Int, of stream: [ByteBuffer], arrival: MonotonicInstant) -> EncodedFrame {
    var payload = ByteBuffer()
    var isNumbered = false
    for unit in H264NALUnits(stream[number % stream.count]) {
      if unit.type.isSlice, !isNumbered {
        // User data of 4 bytes, without zeros.
        var information = ByteBuffer(bytes: [0x06, 0x05, 0x14] + [UInt8](repeating: 0xA5, count: 16))
        for shift in [12, 8, 4, 0] { information.writeInteger(UInt8(0x10 | number >> shift & 0x0F)) }
        information.writeInteger(UInt8(0x80))
        H264NALUnits.append(information, to: &payload)
        isNumbered = true
      }
      H264NALUnits.append(unit.bytes, to: &payload)
    }
    let header = FrameHeader(parsing: payload, of: .h264)
    return EncodedFrame(
      owner: ParticipantID("source"), codec: .h264, time: MediaTime(ticks: Int64(number) * 3_000, rate: 90_000),
      payload: payload, isKeyframe: header.isKeyframe, size: header.video?.size, arrival: arrival.instant)
  }

  /// Returns which frames arrived, by their numbers, and expects each to be that which was sent.
  private static func numbers(_ call: SessionCall) throws -> [Int] {
    let sent = call.played.filter { $0.codec == .h264 }
    let received = call.bob.frames(.h264)
    return try received.map { frame in
      let information = try #require(
        H264NALUnits(frame.payload).first { $0.type == .supplementalInformation && $0.bytes.readableBytes == 24 })
      let number = Array(information.bytes.readableBytesView.dropFirst(19).prefix(4)).reduce(0) {
        $0 << 4 | Int($1 & 0x0F)
      }
      #expect(frame.payload == sent[number].payload)
      return number
    }
  }

  private static func play(_ count: Int, of stream: [ByteBuffer], in call: inout SessionCall) {
    call.source = nil
    let before = call.played.count { $0.codec == .h264 }
    for number in before..<before + count {
      call.give(frame(number, of: stream, arrival: call.now))
      call.run(for: .nanoseconds(33_333_333))
    }
  }

  @Test(
    "at 5 % loss with retransmission, at least 99.9 % of the frames arrive, byte for byte", arguments: [true, false])
  func loss(retransmission: Bool) throws {
    let stream = try H264Stream.make(
      size: "640x360", seconds: 4, ["-c:v", "libx264", "-tune", "zerolatency", "-b:v", "800k", "-g", "60", "-bf", "0"])
    var media = Self.media()
    media.retransmission = retransmission
    var call = SessionCall(
      seed: 11, toBob: .init(loss: 0.05, delay: .milliseconds(25)),
      toAlice: .init(loss: 0.05, delay: .milliseconds(25)),
      media: media, configuration: Self.configuration)
    Self.play(3_600, of: stream.frames, in: &call)
    call.toBob.conditions.loss = 0
    Self.play(10, of: stream.frames, in: &call)
    call.settle()
    let numbers = try Self.numbers(call)
    let counts = try #require(call.bob.session.receiveStatistics[.video])
    print(
      "measured: H.264, 5 % loss, \(retransmission ? "RTX" : "plain"): \(numbers.count) of 3610 frames,",
      "\(counts.packetsRecovered) packets recovered, \(counts.packetsLost) lost")
    #expect(Set(numbers).count == numbers.count && numbers == numbers.sorted())
    #expect(numbers.count >= 3_607)
    #expect(counts.packetsRecovered > 100)
    expectAll(call.bob.frames(.h264)) { $0.isKeyframe == ($0.size == VideoSize(width: 640, height: 360)) }
  }

  @Test("without retransmission, no frame arrives that depends on a lost one, and others need no keyframe")
  func layers() throws {
    // Every second frame in the order of decoding is a B frame on which no other depends.
    let stream = try H264Stream.make(
      seconds: 4,
      ["-c:v", "libx264", "-g", "60", "-bf", "1", "-x264-params", "b-adapt=0:b-pyramid=none:scenecut=0:ref=1"])
    var media = Self.media()
    media.nack = false
    media.retransmission = false
    var call = SessionCall(seed: 3, media: media, configuration: Self.configuration)
    var generator = SeededGenerator(seed: 9)
    // Packets of frames that no other needs.
    var lost: Set<UInt32> = []
    let dropsReferences = [1_000, 1_501]
    var timestamps: [UInt32] = []
    call.carriesRTP = { packet in
      guard packet.ssrc == Negotiated.aliceVideo else { return true }
      if timestamps.last != packet.timestamp { timestamps.append(packet.timestamp) }
      let first = packet.payload.getInteger(at: packet.payload.readerIndex, as: UInt8.self) ?? 0
      // The information by which the test knows frames.
      guard first & 0x1F != 6 else { return true }
      let isReference = first & 0x60 != 0
      if isReference ? dropsReferences.contains(timestamps.count - 1) : Int.random(in: 0..<10, using: &generator) == 0 {
        lost.insert(packet.timestamp)
        return false
      }
      return true
    }
    Self.play(2_400, of: stream.frames, in: &call)
    call.settle()
    let numbers = Set(try Self.numbers(call))
    // Which frames others need, and which could be decoded.
    var wanted: Set<Int> = []
    var isBroken = false
    for (number, timestamp) in timestamps.enumerated() {
      let frame = try #require(try? H264FrameHeader(parsing: stream.frames[number % stream.frames.count]))
      if frame.isKeyframe { isBroken = false }
      if !lost.contains(timestamp), !isBroken { wanted.insert(number) }
      if lost.contains(timestamp), frame.isReference { isBroken = true }
    }
    #expect(numbers.isSubset(of: wanted))
    print(
      "measured: H.264 with two layers, \(lost.count) of 2400 frames lost: \(numbers.count) of \(wanted.count) decodable",
      "frames arrived")
    // Nothing is proved after a loss in the first frames of a group, or of a period of frame_num, which has 4 bits here.
    #expect(Double(numbers.count) > 0.75 * Double(wanted.count))
  }

  @Test("a change of the size arrives with its keyframe")
  func sizes() throws {
    let arguments = ["-c:v", "libx264", "-tune", "zerolatency", "-bf", "0"]
    let small = try H264Stream.make(size: "320x180", seconds: 0.5, arguments)
    let large = try H264Stream.make(size: "640x362", seconds: 0.5, arguments)
    var call = SessionCall(
      seed: 2, toBob: .init(loss: 0.02, delay: .milliseconds(20)), media: Self.media(),
      configuration: Self.configuration)
    Self.play(120, of: small.frames + large.frames, in: &call)
    call.toBob.conditions.loss = 0
    Self.play(10, of: small.frames + large.frames, in: &call)
    call.settle()
    #expect(try Self.numbers(call) == Array(0..<130))
    #expect(
      call.bob.frames(.h264).compactMap(\.size).map(\.description)
        == ["320x180", "640x362", "320x180", "640x362", "320x180", "640x362", "320x180", "640x362", "320x180"])
  }

  @Test("a sender may change from VP8 to H.264 and back at any keyframe")
  func change() throws {
    let stream = try H264Stream.make(seconds: 1, ["-c:v", "libx264", "-tune", "zerolatency", "-bf", "0"])
    var media = Negotiated()
    media.alternatives = [(.h264, 102)]
    var call = SessionCall(
      seed: 4, toBob: .init(loss: 0.03, delay: .milliseconds(20)), media: media, configuration: Self.configuration)
    call.run(for: .seconds(2))
    call.source = nil
    call.run(for: .milliseconds(200))
    let last = try #require(call.played.last { $0.codec == .vp8 }).time.ticks
    for number in 0..<60 {
      var frame = Self.frame(number, of: stream.frames, arrival: call.now)
      frame.time.ticks += last + 20_000
      call.give(frame)
      call.run(for: .nanoseconds(33_333_333))
    }
    var generator = SeededGenerator(seed: 1)
    for number in 0..<30 {
      call.give(
        SyntheticSource.vp8(
          number: number, isKeyframe: number == 0, bytes: 2_000, time: last + 210_000 + Int64(number) * 3_000,
          arrival: call.now, using: &generator))
      call.run(for: .nanoseconds(33_333_333))
    }
    call.toBob.conditions.loss = 0
    call.give(
      SyntheticSource.vp8(
        number: 30, isKeyframe: false, bytes: 2_000, time: last + 210_000 + 90_000, arrival: call.now, using: &generator
      ))
    call.settle()
    for codec in [Codec.vp8, .h264] {
      let sent = call.played.filter { $0.codec == codec }.map(\.payload)
      expectSame(call.bob.frames(codec).map(\.payload), sent, codec.rawValue)
    }
    let ticks = call.bob.events.compactMap { event -> Int64? in
      if case .frame(let frame) = event, frame.codec.kind == .video { frame.time.ticks } else { nil }
    }
    #expect(zip(ticks, ticks.dropFirst()).allSatisfy { $0 < $1 })
  }

  @Test("a keyframe is requested after a loss that cannot be repaired")
  func request() throws {
    let stream = try H264Stream.make(seconds: 2, ["-c:v", "libx264", "-tune", "zerolatency", "-bf", "0"])
    var media = Self.media()
    media.nack = false
    media.retransmission = false
    var call = SessionCall(seed: 5, media: media, configuration: Self.configuration)
    var count = 0
    call.carriesRTP = { packet in
      if packet.ssrc == Negotiated.aliceVideo { count += 1 }
      return packet.ssrc != Negotiated.aliceVideo || count != 20
    }
    Self.play(60, of: stream.frames, in: &call)
    #expect(!call.alice.keyframeRequests.isEmpty)
    Self.play(30, of: stream.frames, in: &call)
    call.settle()
    let numbers = try Self.numbers(call)
    let missing = Array(0..<90).filter { !numbers.contains($0) }
    // From the lost one to the next keyframe of the file.
    #expect(missing.last == 59)
    #expect(missing.count == 60 - (try #require(missing.first)))
  }
}
