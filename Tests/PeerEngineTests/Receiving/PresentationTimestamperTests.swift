import Bitstream
import Media
import NIOCore
import PeerEngine
import TestSupport
import Testing

/// Frames of a sender with B-frames, in decoding order.
struct ReorderingSender {
  struct Picture: Hashable {
    /// Its place in decoding order, and in the order of output.
    var number: Int
    var shown: Int
    /// Its picture order count in its sequence.
    var count: Int
    var beginsSequence: Bool
  }

  var pictures: [Picture] = []
  /// The most that precede a frame in decoding and follow it in output.
  private(set) var reordering = 0
  static let interval: Int64 = 3_000

  /// Groups of random length and structure.
  ///
  /// - Parameters:
  ///   - step: the difference between the counts of frames that are shown one after the other.
  ///   - sequence: the number of groups between keyframes.
  init(groups: Int, longest: Int, step: Int = 2, sequence: Int = 20, using generator: inout SeededGenerator) {
    var count = 0
    for group in 0..<groups {
      let start = pictures.count
      let isFirst = group % sequence == 0
      if isFirst { count = 0 }
      let length = isFirst ? 1 : Int.random(in: 1...longest, using: &generator)
      // The last one in output is decoded first, as a P frame is; the others in any order that a pyramid has.
      var order = [length - 1]
      if length > 1 { Self.pyramid(0..<length - 1, into: &order, isFlat: Bool.random(using: &generator)) }
      for (index, place) in order.enumerated() {
        let later = order[..<index].count { $0 > place }
        reordering = max(reordering, later)
        pictures.append(
          Picture(
            number: start + index, shown: start + place, count: isFirst ? 0 : count + place * step,
            beginsSequence: isFirst))
      }
      count += isFirst ? step : length * step
    }
  }

  private static func pyramid(_ range: Range<Int>, into order: inout [Int], isFlat: Bool) {
    guard !range.isEmpty else { return }
    if isFlat { return order += Array(range) }
    let middle = (range.lowerBound + range.upperBound) / 2
    order.append(middle)
    pyramid(range.lowerBound..<middle, into: &order, isFlat: false)
    pyramid(middle + 1..<range.upperBound, into: &order, isFlat: false)
  }

  /// Returns a frame, whose payload has its number and `size` bytes.
  static func frame(_ picture: Picture, ticks: Int64, arrival: MonotonicInstant, size: Int = 4) -> EncodedFrame {
    var payload = ByteBuffer(integer: UInt32(picture.number))
    payload.writeRepeatingByte(0, count: size - 4)
    return EncodedFrame(
      owner: ParticipantID("sender"), codec: .h264, time: MediaTime(ticks: ticks, rate: 90_000), payload: payload,
      header: .unreadable, isKeyframe: picture.beginsSequence, arrived: arrival)
  }

  static func number(of frame: EncodedFrame) -> Int {
    Int(frame.payload.getInteger(at: frame.payload.readerIndex, as: UInt32.self) ?? .max)
  }
}

@Suite("Presentation times of received frames")
struct PresentationTimestamperTests {
  private static let start = MonotonicInstant.now

  private struct Result {
    var frames: [EncodedFrame] = []
    /// For each frame how many came after it before it was emitted.
    var delays: [Int] = []
    var longestWait = Duration.zero

    var numbers: [Int] { frames.map(ReorderingSender.number) }
    var ticks: [Int64] { frames.map(\.time.ticks) }
  }

  /// Runs a stream through the timestamper, one frame each 33 ms.
  private static func run(
    _ pictures: [ReorderingSender.Picture], reordering: Int?, ticks: (ReorderingSender.Picture) -> Int64
  ) -> Result {
    var timestamper = PresentationTimestamper()
    var result = Result()
    for (index, picture) in pictures.enumerated() {
      let now = start + .milliseconds(33 * picture.number)
      timestamper.expire(now: now)
      func take() {
        while let frame = timestamper.popFrame() {
          result.frames.append(frame)
          result.delays.append(index - (pictures.firstIndex { $0.number == ReorderingSender.number(of: frame) } ?? 0))
          result.longestWait = max(result.longestWait, now - frame.arrived)
        }
      }
      take()
      var frame = ReorderingSender.frame(picture, ticks: ticks(picture), arrival: now)
      let expected = index > 0 ? pictures[index - 1].number + 1 : picture.number
      if picture.number > expected {
        frame.gap = MediaGap(.lost, packetsLost: picture.number - expected)
      }
      timestamper.add(
        frame,
        PictureOrder(
          count: Int64(picture.count), beginsSequence: picture.beginsSequence, reorderedFrames: reordering), now: now)
      take()
    }
    timestamper.finish()
    while let frame = timestamper.popFrame() { result.frames.append(frame) }
    return result
  }

  private static func decodingTime(_ picture: ReorderingSender.Picture) -> Int64 {
    Int64(picture.number) * ReorderingSender.interval
  }

  private static func shownTime(_ picture: ReorderingSender.Picture) -> Int64 {
    Int64(picture.shown) * ReorderingSender.interval
  }

  @Test("decoding times of a group are given to its frames by picture order")
  func decodingTimes() {
    let shown = [0, 3, 1, 2, 6, 4, 5]
    let pictures = shown.enumerated().map {
      ReorderingSender.Picture(number: $0, shown: $1, count: 2 * $1, beginsSequence: $0 == 0)
    }
    let result = Self.run(pictures, reordering: 1, ticks: Self.decodingTime)
    #expect(result.numbers == Array(0..<7))
    #expect(result.ticks.map { $0 / 3_000 } == [0, 3, 1, 2, 6, 4, 5])
    #expect(result.frames.map(\.isReordered) == [false, false, true, true, false, true, true])
  }

  @Test("presentation times stay as they are, and nothing is held once they are known", arguments: [0, 1, 2, 3])
  func presentationTimes(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let sender = ReorderingSender(groups: 200, longest: 5, using: &generator)
    let result = Self.run(sender.pictures, reordering: max(1, sender.reordering), ticks: Self.shownTime)
    #expect(result.numbers == sender.pictures.map(\.number))
    #expect(result.ticks == sender.pictures.map(Self.shownTime))
    let isKnown = sender.pictures.firstIndex { $0.shown < $0.number } ?? 0
    #expect(result.delays[min(isKnown + 1, result.delays.count - 1)...].allSatisfy { $0 == 0 })
    for (index, frame) in result.frames.enumerated() {
      #expect(frame.isReordered == result.ticks[..<index].contains { $0 > frame.time.ticks })
    }
  }

  @Test(
    "decoding times become a permutation in picture order, without a parameter set that says so as well",
    arguments: [0, 1, 2, 3, 4, 5, 6, 7], [true, false])
  func permutation(seed: UInt64, isDeclared: Bool) {
    var generator = SeededGenerator(seed: seed)
    let step = seed.isMultiple(of: 3) ? 1 : 2
    let sender = ReorderingSender(groups: 300, longest: 6, step: isDeclared ? step : 2, using: &generator)
    let result = Self.run(
      sender.pictures, reordering: isDeclared ? max(1, sender.reordering) : nil, ticks: Self.decodingTime)
    #expect(result.numbers == sender.pictures.map(\.number))
    #expect(result.ticks == sender.pictures.map(Self.shownTime))
    #expect(result.delays.allSatisfy { $0 <= PresentationTimestamper.maximumFrames })
    #expect(result.longestWait <= PresentationTimestamper.maximumWait)
  }

  @Test("lost frames cost no order: times stay a permutation of what came, in picture order", arguments: 0..<16)
  func loss(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let isDeclared = seed.isMultiple(of: 2)
    let sender = ReorderingSender(groups: 400, longest: 5, sequence: 30, using: &generator)
    // A keyframe is never lost: what would follow could not be decoded.
    let arrived = sender.pictures.filter { $0.beginsSequence || Int.random(in: 0..<12, using: &generator) > 0 }
    for ticks in [Self.decodingTime, Self.shownTime] {
      let result = Self.run(arrived, reordering: isDeclared ? max(1, sender.reordering) : nil, ticks: ticks)
      #expect(result.numbers == arrived.map(\.number))
      #expect(Set(result.ticks).count == arrived.count)
      // In the order of their times, frames are in picture order, but for the few that come when it was given up to wait for them.
      let byTime = zip(result.ticks, arrived).sorted { $0.0 < $1.0 }.map(\.1.shown)
      let inversions = zip(byTime, byTime.dropFirst()).count { $0 > $1 }
      #expect(inversions <= (isDeclared ? 0 : arrived.count / 100))
      for (tick, picture) in zip(result.ticks, arrived) {
        #expect(abs(tick - ticks(picture)) <= 18 * ReorderingSender.interval)
      }
      for (index, frame) in result.frames.enumerated() where frame.isReordered {
        #expect(result.ticks[..<index].contains { $0 > frame.time.ticks && $0 - frame.time.ticks <= 90_000 })
      }
    }
  }

  @Test(
    "where frames are lost that no other one needs, decoding times become the exact times of those that came",
    arguments: 0..<16)
  func exactTimes(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let sender = ReorderingSender(groups: 300, longest: 6, step: seed.isMultiple(of: 2) ? 2 : 1, using: &generator)
    // Until the difference between two picture orders is known, nothing is lost.
    let arrived = sender.pictures.filter {
      $0.number < 60 || $0.shown >= $0.number || Int.random(in: 0..<4, using: &generator) > 0
    }
    let result = Self.run(arrived, reordering: max(1, sender.reordering), ticks: Self.decodingTime)
    #expect(result.numbers == arrived.map(\.number) && arrived.count < sender.pictures.count - 50)
    // Behind the last group nothing tells what of it is missing.
    let wrong = zip(result.ticks, arrived).dropLast(20).count { $0 != Self.shownTime($1) }
    #expect(wrong == 0)
  }

  @Test("frames that are not evenly spaced share the times that came where some are lost")
  func unevenTimes() {
    let shown = [0, 3, 1, 2, 6, 4, 5, 9, 7, 8, 12, 10, 11]
    let pictures = shown.enumerated().map {
      ReorderingSender.Picture(number: $0, shown: $1, count: 2 * $1, beginsSequence: $0 == 0)
    }
    let ticks: [Int64] = [
      0, 3_000, 7_000, 9_500, 14_000, 15_000, 18_000, 22_500, 23_000, 27_000, 29_000, 33_000, 34_000,
    ]
    // The picture 8, which is shown at the place 7.
    let arrived = pictures.filter { $0.number != 8 }
    let result = Self.run(arrived, reordering: 1) { ticks[$0.number] }
    #expect(result.ticks == [0, 9_500, 3_000, 7_000, 18_000, 14_000, 15_000, 27_000, 22_500, 34_000, 29_000, 33_000])
  }

  @Test("nothing is held of a stream that does not reorder", arguments: [nil, 0, 1, 4], [1, 2])
  func unordered(reordering: Int?, step: Int) {
    let pictures = (0..<300).map {
      ReorderingSender.Picture(number: $0, shown: $0, count: $0 % 60 * step, beginsSequence: $0 % 60 == 0)
    }
    let result = Self.run(pictures, reordering: reordering, ticks: Self.decodingTime)
    #expect(result.ticks == pictures.map(Self.decodingTime))
    let reordered = result.frames.filter(\.isReordered)
    #expect(reordered.isEmpty)
    // Until it is known by how much the picture order counts.
    let most = reordering ?? 0
    #expect(result.delays.allSatisfy { $0 <= most })
    #expect(result.delays.dropFirst(6).allSatisfy { $0 == 0 })
  }

  @Test("a picture order that leaves numbers out holds each frame for no longer than the stream may reorder")
  func holes() {
    let pictures = (0..<100).map {
      ReorderingSender.Picture(number: $0, shown: $0, count: $0 * $0, beginsSequence: $0 == 0)
    }
    let result = Self.run(pictures, reordering: 2, ticks: Self.decodingTime)
    #expect(result.ticks == pictures.map(Self.decodingTime))
    #expect(result.delays.allSatisfy { $0 <= 2 })
  }

  @Test("a frame is held for at most a second")
  func wait() throws {
    var timestamper = PresentationTimestamper()
    func add(_ number: Int, count: Int64, milliseconds: Int) {
      let picture = ReorderingSender.Picture(number: number, shown: number, count: 0, beginsSequence: number == 0)
      let now = Self.start + .milliseconds(milliseconds)
      timestamper.add(
        ReorderingSender.frame(picture, ticks: Int64(milliseconds) * 90, arrival: now),
        PictureOrder(count: count, beginsSequence: number == 0, reorderedFrames: 3), now: now)
    }
    func pop() -> EncodedFrame? { timestamper.popFrame() }
    add(0, count: 0, milliseconds: 0)
    #expect(pop() != nil)
    #expect(timestamper.deadline == nil)
    add(1, count: 8, milliseconds: 400)
    #expect(pop() == nil)
    #expect(timestamper.deadline == Self.start + .milliseconds(1_400))
    add(2, count: 2, milliseconds: 800)
    #expect(pop() == nil)
    timestamper.expire(now: Self.start + .milliseconds(1_400))
    let (firstFrame, secondFrame) = (pop(), pop())
    let first = try #require(firstFrame)
    let second = try #require(secondFrame)
    #expect([first.time.ticks, second.time.ticks] == [72_000, 36_000])
    #expect(timestamper.deadline == nil)
    // One that belongs between them.
    add(3, count: 4, milliseconds: 1_500)
    let lateFrame = pop()
    let late = try #require(lateFrame)
    #expect(late.time.ticks > 36_000 && late.time.ticks < 72_000)
    #expect(late.isReordered)
  }

  @Test(
    "large frames are held up to 8 MiB, and as many of 4K as a decoder can hold",
    arguments: [(4 << 20, 2), (1 << 20, 8), (450_000, 17)])
  func bytes(size: Int, held: Int) {
    var timestamper = PresentationTimestamper()
    var emitted: [EncodedFrame] = []
    func add(_ number: Int, count: Int) -> Int {
      let now = Self.start + .milliseconds(33 * number)
      let picture = ReorderingSender.Picture(number: number, shown: 0, count: count, beginsSequence: number == 0)
      timestamper.add(
        ReorderingSender.frame(picture, ticks: Int64(number) * ReorderingSender.interval, arrival: now, size: size),
        PictureOrder(count: Int64(count), beginsSequence: number == 0, reorderedFrames: 16), now: now)
      let before = emitted.count
      while let frame = timestamper.popFrame() { emitted.append(frame) }
      return emitted.count - before
    }
    #expect(add(0, count: 0) == 1)
    // All are shown before the first of them, and others could be between them.
    let released = (1...held + 1).map { add($0, count: $0 == 1 ? 1_000 : 10 * $0) }
    #expect(released == Array(repeating: 0, count: held) + [held + 1])
    #expect(emitted.map(ReorderingSender.number) == Array(0...held + 1))
    let times = emitted.map { Int($0.time.ticks / ReorderingSender.interval) }
    #expect(times == [0, held + 1] + (1...held))
  }

  @Test("a clock that jumps back is not taken for reordered frames")
  func jump() {
    let pictures = (0..<60).map {
      ReorderingSender.Picture(number: $0, shown: $0, count: 2 * $0, beginsSequence: $0 == 0)
    }
    for reordering in [nil, 0, 2] {
      let result = Self.run(pictures, reordering: reordering) { picture in
        Self.decodingTime(picture) - (picture.number >= 30 ? 45_000 : 0)
      }
      let reordered = result.frames.filter(\.isReordered)
      #expect(reordered.isEmpty)
      #expect(result.frames.count == 60)
    }
  }

  @Test("counts that go back by more than a decoder can hold begin another sequence")
  func otherSequence() {
    let counts = (0..<40).map { 2 * $0 } + (0..<40).map { 2 * $0 }
    let pictures = counts.enumerated().map {
      ReorderingSender.Picture(number: $0, shown: $0, count: $1, beginsSequence: $0 == 0)
    }
    let result = Self.run(pictures, reordering: 1, ticks: Self.decodingTime)
    #expect(result.ticks == pictures.map(Self.decodingTime))
    let reordered = result.frames.filter(\.isReordered)
    #expect(reordered.isEmpty)
  }

  @Test("any counts and times leave all frames in order, and none is held for long", arguments: 0..<50)
  func anything(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let pictures = (0..<500).map { number in
      let count: Int =
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: .random(in: Int.min...Int.max, using: &generator)
        case 1: [Int.min, Int.max, 0, -1][Int.random(in: 0..<4, using: &generator)]
        default: .random(in: -40...40, using: &generator)
        }
      return ReorderingSender.Picture(
        number: number, shown: number, count: count, beginsSequence: Int.random(in: 0..<50, using: &generator) == 0)
    }
    let reordering = [nil, 1, 4, 16][Int(seed % 4)]
    let result = Self.run(pictures, reordering: reordering) { _ in
      Bool.random(using: &generator)
        ? .random(in: Int64.min...Int64.max, using: &generator) : .random(in: 0...200_000, using: &generator)
    }
    #expect(result.numbers == Array(0..<500))
    #expect(result.delays.allSatisfy { $0 <= PresentationTimestamper.maximumFrames })
  }
}
