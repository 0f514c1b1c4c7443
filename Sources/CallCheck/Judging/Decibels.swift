import Glibc

/// The logarithm to the base of ten.
func decadicLogarithm(_ value: Double) -> Double { log10(value) }

/// An amplitude, 1 being full scale, in dB; -96 at least.
func decibels(amplitude: Double) -> Double {
  amplitude > 0 ? max(-96, 20 * log10(amplitude)) : -96
}
