floor(fine.{axis}::numeric * 10) / 10 AS {axis}
