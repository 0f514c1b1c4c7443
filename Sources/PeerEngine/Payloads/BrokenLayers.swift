/// The temporal layers above 0, up to 7, of which the newest frame is, or may be, missing.
struct BrokenLayers: Sendable {
  private var bits: UInt8 = 0

  var isEmpty: Bool { bits == 0 }

  mutating func insert(_ layer: UInt8) { bits |= 1 << layer }
  mutating func remove(_ layer: UInt8) { bits &= ~(1 << layer) }
  mutating func insertAll() { bits = 0b1111_1110 }

  /// Removes all layers above one.
  mutating func removeAll(above layer: UInt8) { bits &= Self.mask(upTo: layer) }

  func subtracting(_ others: BrokenLayers) -> BrokenLayers {
    var rest = self
    rest.bits &= ~others.bits
    return rest
  }

  /// Returns whether one of the layers up to this one is broken.
  func reaches(_ layer: UInt8) -> Bool { bits & Self.mask(upTo: layer) != 0 }

  private static func mask(upTo layer: UInt8) -> UInt8 { layer >= 7 ? .max : 1 << (layer + 1) - 1 }
}
