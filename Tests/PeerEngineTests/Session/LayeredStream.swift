import RTP
import Testing

/// How a synthetic encoder predicts its frames from each other, and what its packets state about that.
enum LayeredStream: String, CaseIterable, CustomTestStringConvertible {
  /// Each frame depends on the one before it.
  case plain
  /// Like `plain`, with picture ids of 7 bits that wrap.
  case shortIDs
  /// Like `plain` without picture ids, so that nothing is known after a loss.
  case noIDs
  /// Two temporal layers, the upper one in chains of four frames, as browsers send them.
  case twoLayers
  /// Three temporal layers in the pattern 0 2 1 2; no frame depends on one of the highest layer.
  case threeLayers
  /// Like `threeLayers` without picture ids; only TL0PICIDX shows lost frames.
  case threeLayersWithoutIDs

  var testDescription: String { rawValue }

  static let keyframeEvery = 32

  func isKeyframe(_ number: Int) -> Bool { number % Self.keyframeEvery == 0 }

  func layer(of number: Int) -> Int {
    switch self {
    case .plain, .shortIDs, .noIDs: 0
    case .twoLayers: number % 2
    case .threeLayers, .threeLayersWithoutIDs: [0, 2, 1, 2][number % 4]
    }
  }

  /// Returns the frames from which this one is predicted.
  func references(of number: Int) -> [Int] {
    if isKeyframe(number) { return [] }
    switch self {
    case .plain, .shortIDs, .noIDs: return [number - 1]
    case .twoLayers:
      if number % 2 == 0 { return [number - 2] }
      return number % 8 == 1 ? [number - 1] : [number - 1, number - 2]
    case .threeLayers, .threeLayersWithoutIDs:
      return [[number - 4], [number - 1], [number - 2], [number - 3, number - 1]][number % 4]
    }
  }

  /// Returns the frames among the first `count` that cannot be decoded without this one, itself included.
  func dependents(of number: Int, count: Int) -> Set<Int> {
    var lost: Set<Int> = [number]
    for later in number..<count where references(of: later).contains(where: lost.contains) { lost.insert(later) }
    return lost
  }

  /// Writes what the frame's packets state about its dependencies into a descriptor.
  func describe(_ number: Int, _ descriptor: inout VP8PayloadDescriptor) {
    switch self {
    case .plain: break
    case .shortIDs: descriptor.pictureID = .init(UInt16(number & 0x7F), isLong: false)
    case .noIDs: descriptor.pictureID = nil
    case .twoLayers, .threeLayers, .threeLayersWithoutIDs:
      let layer = layer(of: number)
      descriptor.baseLayerIndex = UInt8(truncatingIfNeeded: self == .twoLayers ? number / 2 : number / 4)
      descriptor.temporalLayer = .init(
        index: UInt8(layer),
        isLayerSync: layer > 0 && references(of: number).allSatisfy { self.layer(of: $0) == 0 })
      descriptor.isNonReference = self == .twoLayers ? number % 8 == 7 : layer == 2
      if self == .threeLayersWithoutIDs { descriptor.pictureID = nil }
    }
  }
}
